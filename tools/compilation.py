"""Compiling files: one, or many in several processes; from the cache where it has them.

A `Request` is what `ingot compile` was asked for, without the files. It holds plain values, so that
worker processes can be given it, and so that a file which the cache holds needs no compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingot.tools.depfile import depfile_text
from ingot.tools.messages import Message
from ingot.tools.report import (
    CommandLineError,
    Sources,
    WrongInput,
    failure_message,
    read_bytes,
    text_of,
    write_output,
)
from ingot.tools.startup import numpy_in_one_thread

if TYPE_CHECKING:
    from ingot.compiler.driver.compile import Compiled
    from ingot.compiler.driver.options import CompileOptions, Emit, MathMode
    from ingot.compiler.driver.schedules import ScheduleEntry
    from ingot.compiler.driver.timing import Timing
    from ingot.targets.metallib import Sdk

Step = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to make of every file."""

    targets: tuple[str, ...]
    emit: Emit = "bundle"
    math: MathMode = "safe"
    demote_f64: bool = False
    dump_dir: str | None = None
    print_after: tuple[str, ...] = ()
    print_after_all: bool = False
    timing: bool = False
    metallib: tuple[Sdk, ...] = ()
    weights: str | None = None
    schedule_files: tuple[str, ...] = ()
    schedule_db: str | None = None
    print_schedule: bool = False
    check_msl: bool = False
    embed: str | None = None
    name: str | None = None
    """What names in C begin with; each file's when it is None."""
    use_cache: bool = True
    processes: int = 1
    """For the kernels of one program."""

    @property
    def words(self) -> list[str]:
        """The options that decide what the compiler does with a program."""
        words = [word for target in self.targets for word in ("--target", target)]
        words += ["--math", self.math] if self.math != "safe" else []
        words += ["--demote-f64"] if self.demote_f64 else []
        words += ["--schedule-db", self.schedule_db] if self.schedule_db is not None else []
        return words + [word for file in self.schedule_files for word in ("--schedule", file)]

    @property
    def is_cacheable(self) -> bool:
        """Whether the output is all that a compilation leaves."""
        leaves_more = self.dump_dir or self.print_after or self.print_after_all or self.weights
        tells_more = self.print_schedule or self.check_msl or self.timing
        return self.use_cache and not (leaves_more or tells_more)


@dataclass(frozen=True)
class Job:
    """One file, what to write, and the depfile beside it."""

    file: str
    output: str | None
    """None where only the schedules are asked for."""
    depfile: str | None = None
    others: tuple[str, ...] = ()
    """Further files, whose functions go into the same output."""


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    job: Job
    messages: tuple[Message, ...] = ()
    printed: str = ""
    """For standard output: the schedules."""
    is_cached: bool = False
    timing: str = ""
    """For standard error: where the time went."""

    @property
    def has_failed(self) -> bool:
        """Whether nothing was written."""
        return any(message.severity == "error" for message in self.messages)


def compile_job(
    job: Job, request: Request, step: Step = lambda _: None, debug: bool = False
) -> Outcome:
    """Compile a file and write what was asked for; failures of the program are in the outcome.

    Raises `CommandLineError` for files that cannot be read or written, and with `debug` whatever
    went wrong.
    """
    sources = Sources()
    if debug:
        return _compile(job, request, step, sources)
    try:
        return _compile(job, request, step, sources)
    except CommandLineError:
        raise
    except WrongInput as wrong:
        return Outcome(job, (wrong.diagnostic,))
    except Exception as error:
        command = ("compile", "%s", "-o", "%t", *request.words)
        return Outcome(job, (failure_message(error, sources, command),))


def _compile(job: Job, request: Request, step: Step, sources: Sources) -> Outcome:
    if not request.timing:
        return _compile_measured(job, request, step, sources, None)
    from ingot.compiler.driver.timing import Timing, timing_text

    timing = Timing()
    outcome = _compile_measured(job, request, step, sources, timing)
    return replace(outcome, timing=timing_text(timing))


def _compile_measured(
    job: Job, request: Request, step: Step, sources: Sources, timing: Timing | None
) -> Outcome:
    programs = _programs(job, sources)
    name = programs[0][1]
    schedules = _schedule_texts(request)
    key = _key(job, request, programs, schedules) if request.is_cacheable else None
    if key is not None:
        from ingot.compiler.driver.cache import Cache

        if (entry := Cache.default().get(key)) is not None:
            _write(job, request, entry.data)
            warnings = tuple(Message("warning", sentence, name) for sentence in entry.warnings)
            return Outcome(job, warnings, is_cached=True)
    compiled = _compiled(programs, _options(request, schedules, timing), step)
    warnings = tuple(Message("warning", sentence, name) for sentence in compiled.warnings)
    problems = _msl_problems(compiled, name) if request.check_msl else ()
    if problems:
        return Outcome(job, (*warnings, *problems))
    printed = _schedules_text(compiled) if request.print_schedule else ""
    if job.output is None:
        return Outcome(job, warnings, printed)
    if request.weights is not None:
        from ingot.targets.bundle.weights import save_bundle

        save_bundle(compiled.bundle, job.output, request.weights)
        _write_depfile(job, request)
        return Outcome(job, warnings, printed)
    from ingot.compiler.driver.timing import phase

    with phase(timing, request.emit):
        data = emitted(compiled, request.emit, job.output, _name_in_c(job, request))
    if key is not None:
        from ingot.compiler.driver.cache import Cache, Entry

        Cache.default().put(key, Entry(data, compiled.warnings))
    _write(job, request, data)
    return Outcome(job, warnings, printed)


def _schedule_texts(request: Request) -> dict[str, str]:
    """What files and the database say of schedules, by name; later ones count for more."""
    texts: dict[str, str] = {}
    if request.schedule_db is not None:
        from ingot.compiler.driver.schedule_database import database_text

        texts[request.schedule_db] = database_text(Path(request.schedule_db), request.targets)
    for file in request.schedule_files:
        texts[file] = text_of(read_bytes(file), file, Sources())
    return texts


def _write(job: Job, request: Request, data: bytes) -> None:
    assert job.output is not None
    write_output(job.output, data)
    if request.embed is not None:
        _embed(data, _name_in_c(job, request), request.embed)
    _write_depfile(job, request)


def _embed(data: bytes, name: str, path: str) -> None:
    """Write a bundle as C source, or as an object file where `path` says so."""
    from ingot.targets.bundle.c_code import c_array

    source = c_array(data, name).encode()
    if not path.endswith((".o", ".obj")):
        write_output(path, source)
        return
    import shutil
    import subprocess

    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise CommandLineError(f"{path}: error: no C compiler; write --embed FILE.c instead")
    done = subprocess.run(
        [compiler, "-std=c11", "-c", "-x", "c", "-", "-o", path], input=source, capture_output=True
    )
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CommandLineError(
            f"{path}: error: the C compiler failed: {reason[0] if reason else ''}"
        )


def _write_depfile(job: Job, request: Request) -> None:
    if job.depfile is not None and job.output is not None:
        database = [request.schedule_db] if request.schedule_db is not None else []
        inputs = [job.file, *job.others, *database, *request.schedule_files]
        text = depfile_text(job.output, inputs)
        write_output(job.depfile, text.encode())


def _name_in_c(job: Job, request: Request) -> str:
    """What the bundle is called in C: as its file is, and one of several files as the output."""
    if request.name is not None:
        return request.name
    file = job.output if job.others and job.output is not None else job.file
    return "stdin" if file == "-" else Path(file).stem


def _programs(job: Job, sources: Sources) -> list[tuple[str, str]]:
    """The text and the displayed name of each file."""
    programs: list[tuple[str, str]] = []
    for file in (job.file, *job.others):
        text = text_of(read_bytes(file), file, sources)
        programs.append((text, sources.main))
    return programs


def _key(
    job: Job, request: Request, programs: list[tuple[str, str]], schedules: dict[str, str]
) -> str | None:
    """The key of a job in the cache; None where its tools cannot be told."""
    import hashlib

    from ingot.compiler.driver.cache import cache_key
    from ingot.tools.report import version_text

    is_words = request.emit == "spirv" and (job.output or "").endswith(".spv")
    return cache_key(
        {
            "versions": version_text(),
            "programs": [
                (name, hashlib.sha256(text.encode()).hexdigest()) for text, name in programs
            ],
            "targets": list(request.targets),
            "emit": "spirv words" if is_words else request.emit,
            "name in C": _name_in_c(job, request),
            "math": request.math,
            "demote_f64": request.demote_f64,
            "schedules": schedules,
            "metallib": _metal_tools(request.metallib),
        }
    )


def _metal_tools(sdks: Sequence[Sdk]) -> dict[str, str]:
    """What Apple's tools for each SDK say of themselves."""
    if not sdks:
        return {}
    from ingot.targets.metallib import MetalTools

    return {sdk: MetalTools.find(sdk).version for sdk in sdks}


def _options(request: Request, schedules: dict[str, str], timing: Timing | None) -> CompileOptions:
    from ingot.compiler.driver.options import CompileOptions

    return CompileOptions(
        targets=request.targets,
        math=request.math,
        demote_f64=request.demote_f64,
        dump_dir=Path(request.dump_dir) if request.dump_dir else None,
        print_after=frozenset(request.print_after),
        print_after_all=request.print_after_all,
        metallib=request.metallib,
        schedules=_schedules(schedules),
        keep_schedules=request.print_schedule,
        processes=request.processes if request.emit != "mlir" else 1,
        timing=timing,
    )


def _schedules(files: dict[str, str]) -> tuple[ScheduleEntry, ...]:
    """The entries of all files; of two for the same kernel and target the later one counts."""
    if not files:
        return ()
    from ingot.compiler.driver.schedules import read_schedules

    entries: dict[tuple[str, str], ScheduleEntry] = {}
    for file, text in files.items():
        entries.update({(e.target, e.kernel): e for e in read_schedules(text, file)})
    return tuple(entries.values())


def _compiled(programs: list[tuple[str, str]], options: CompileOptions, step: Step) -> Compiled:
    from ingot.compiler.driver.timing import phase

    numpy_in_one_thread()
    with phase(options.timing, "load the compiler"):
        from ingot.compiler.driver.compile import compile_texts

    return compile_texts(programs, options, on_stage=step)


def _schedules_text(compiled: Compiled) -> str:
    from ingot.compiler.driver.schedules import schedules_text

    return schedules_text([entry for target in compiled.targets for entry in target.schedules])


def _msl_problems(compiled: Compiled, name: str) -> tuple[Message, ...]:
    """What Apple's compiler would refuse in the MSL of every kernel."""
    from ingot.runtime.devices.host.check import check_msl

    return tuple(
        Message(
            "error", f"the MSL of kernel {kernel.name} for {target.profile.name}: {problem}", name
        )
        for target in compiled.targets
        for kernel in target.kernels
        if kernel.kernel.msl
        for problem in check_msl(kernel.kernel.msl)
    )


def emitted(compiled: Compiled, emit: Emit, output: str, name: str) -> bytes:
    """The bytes to write for the program that C calls `name`; a `.spv` file takes the words of
    the only kernel."""
    if emit == "bundle":
        from ingot.targets.bundle.writer import write_bundle

        return write_bundle(compiled.bundle)
    if emit == "c-header":
        from ingot.targets.bundle.c_code import c_header

        return c_header(compiled.bundle, name).encode()
    if emit == "spirv" and output.endswith(".spv"):
        kernels = [kernel for target in compiled.targets for kernel in target.kernels]
        if len(kernels) != 1:
            raise CommandLineError(
                f"{output}: error: a .spv file holds one kernel, and there are {len(kernels)};"
                " use --dump-dir, or another suffix for text"
            )
        return kernels[0].kernel.spirv
    from ingot.compiler.driver.compile import emit_text

    return emit_text(compiled, emit).encode()


# Many files


def compile_jobs(
    jobs: Sequence[Job], request: Request, processes: int, keep_going: bool
) -> Iterator[Outcome]:
    """Compile all files and yield what became of each, in order.

    After a failure no new file is begun, unless `keep_going`. Workers are forked from this process
    once it has loaded the compiler, so that they need not load it again. They begin with the
    longest programs, so that none of them works alone in the end.
    """
    processes = max(1, min(processes, len(jobs)))
    if processes == 1:
        for job in jobs:
            outcome = _guarded(job, request)
            yield outcome
            if outcome.has_failed and not keep_going:
                return
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    forks = hasattr(os, "fork")
    if forks and not _is_cached(jobs[0], request):
        load_compiler()
    context = get_context("fork" if forks else "spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        begun: dict[int, Future[Outcome]] = {}
        for position in sorted(range(len(jobs)), key=lambda n: _lines(jobs[n].file), reverse=True):
            begun[position] = pool.submit(_guarded, jobs[position], request)
        futures = [begun[position] for position in range(len(jobs))]
        for future in futures:
            if future.cancelled():
                continue
            outcome = future.result()
            yield outcome
            if outcome.has_failed and not keep_going:
                for other in futures:
                    other.cancel()


def _lines(file: str) -> int:
    """How long a program is, as a guess at the time it takes: large constants are a line each."""
    if file == "-":
        return 0
    try:
        return Path(file).read_bytes().count(b"\n")
    except OSError:
        return 0


def _guarded(job: Job, request: Request) -> Outcome:
    """A job whose files cannot be read or written is a failure like another."""
    try:
        return compile_job(job, request)
    except CommandLineError as error:
        text = error.message
        message = Message("error", text.partition("error: ")[2] or text, job.file, rendered=text)
        return Outcome(job, (message,))


def _is_cached(job: Job, request: Request) -> bool:
    """Whether the cache has a job: a guess at whether the compiler will be needed at all."""
    if not request.is_cacheable:
        return False
    from ingot.compiler.driver.cache import Cache
    from ingot.targets.bundle.errors import IngotError

    try:
        sources = Sources()
        programs = _programs(job, sources)
        files = _schedule_texts(request)
    except (CommandLineError, WrongInput, IngotError):
        return False
    key = _key(job, request, programs, files)
    return key is not None and Cache.default().get(key) is not None


def load_compiler() -> None:
    """Import what every compilation needs, in the process that forks the workers."""
    numpy_in_one_thread()
    from ingot.compiler.driver.compile import compile_module
    from ingot.compiler.driver.options import CompileOptions

    program = (
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {"
        " %y = math.exp %x : tensor<4xf32> return %y : tensor<4xf32> }"
    )
    options = CompileOptions(targets=("vulkan:generic",))
    # What is wrong with the compiler is for the user's programs to show.
    with suppress(Exception):
        compile_module(program, "warm.mlir", options)
