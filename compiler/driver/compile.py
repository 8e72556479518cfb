"""The whole road: from a program's text to a bundle.

    read -> tensor -> for each target: dispatch -> kernel -> spirv -> bytes -> MSL -> variant

The tensor level does not depend on the target and runs once. A kernel that occurs twice is
compiled once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ingot.compiler.analysis.module_warnings import warnings
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver import assemble
from ingot.compiler.driver.dump import Dump
from ingot.compiler.driver.kernel_processes import (
    ShareFailed,
    compile_in_processes,
    process_count,
)
from ingot.compiler.driver.kernels import CompiledKernel, compile_kernels
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    PassFailure,
    module_text,
    passes_with_work,
    run_passes,
)
from ingot.compiler.driver.pipelines import OUTLINED_STAGES, STAGES, Stage, whole_pipeline
from ingot.compiler.driver.timing import phase
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.frontends.source import SourceText
from ingot.targets import VERSION
from ingot.targets.bundle.model import Bundle, Function, Provenance, Variant
from ingot.targets.profiles import PROFILES, TargetProfile

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ingot.compiler.driver.schedules import ScheduleEntry

OnStage = Callable[[str], None]
"""Told what is being done, for a progress display."""


@dataclass(frozen=True)
class CompiledTarget:
    """A program compiled for one target: the final IR and the code of every kernel."""

    profile: TargetProfile
    module: ModuleOp
    """Without the kernels where several processes compiled them."""
    kernels: tuple[CompiledKernel, ...]
    schedules: tuple[ScheduleEntry, ...] = ()
    """Of every kernel, where the options ask for them."""


@dataclass(frozen=True)
class Compiled:
    """A bundle and what it was made from."""

    bundle: Bundle
    targets: tuple[CompiledTarget, ...]
    warnings: tuple[str, ...] = ()
    """What the user should know although it compiled: one sentence each."""


def compile_module(text: str, filename: str, options: CompileOptions) -> Bundle:
    """Compile a program for all targets of `options`.

    `filename` is how diagnostics name the source. Raises `Refusal` for what cannot be compiled,
    `ParseError` for what cannot be read, `PassFailure` for a bug.
    """
    return compile_text(text, filename, options).bundle


def compile_text(
    text: str, filename: str, options: CompileOptions, on_stage: OnStage = lambda _: None
) -> Compiled:
    """`compile_module` that also returns the IR and the kernels of each target."""
    return compile_texts([(text, filename)], options, on_stage)


def compile_texts(
    programs: Sequence[tuple[str, str]],
    options: CompileOptions,
    on_stage: OnStage = lambda _: None,
) -> Compiled:
    """Compile programs, each a text and the name of its file, into one bundle.

    Raises what `compile_module` does, also where two programs have a function of one name.
    """
    try:
        return _compile(programs, options, on_stage)
    except ShareFailed:
        return compile_texts(programs, replace(options, processes=1), on_stage)
    except PassFailure:
        if options.keep_before:
            raise
    # A bug: once more, slower, so that the failure carries the module that makes the pass fail.
    return _compile(programs, replace(options, keep_before=True), on_stage)


def compile_dispatched(text: str, filename: str, options: CompileOptions) -> Compiled:
    """Compile a program that is at L2 already, kernels outlined and memory not yet planned."""
    context = make_context()
    source = SourceText.of(text)
    module = read_module(source, filename, context)
    digest = source.digest
    return _lower(module, context, digest, OUTLINED_STAGES, options, Dump(None), lambda _: None)


def _compile(
    programs: Sequence[tuple[str, str]], options: CompileOptions, on_stage: OnStage
) -> Compiled:
    profiles = [PROFILES[name] for name in options.targets]
    dump = Dump(options.dump_dir)
    dump.source("\n// -----\n\n".join(text for text, _ in programs))
    context = make_context()
    on_stage("reading")
    sources = [SourceText.of(text) for text, _ in programs]
    keep = options.keep_positions
    with phase(options.timing, "read"):
        modules = [
            read_module(source, filename, context, keep_positions=keep)
            for source, (_, filename) in zip(sources, programs, strict=True)
        ]
    with phase(options.timing, "verify"):
        for module in modules:
            verify(module, "as it was read")
    module = _linked(modules)
    shared, *rest = STAGES
    _run_stage(module, context, shared, options, profiles[0])
    for profile in profiles:
        dump.stage(profile.name, shared.number, shared.name, module)
    return _lower(module, context, _digest(sources), rest, options, dump, on_stage)


def _linked(modules: Sequence[ModuleOp]) -> ModuleOp:
    if len(modules) == 1:
        return modules[0]
    from ingot.compiler.frontends.linking import link_modules

    return link_modules(modules)


def _digest(sources: Sequence[SourceText]) -> str:
    """The hash of a program's text; of several, the hash of their hashes."""
    if len(sources) == 1:
        return sources[0].digest
    return hashlib.sha256("".join(source.digest for source in sources).encode()).hexdigest()


def _lower(
    module: ModuleOp,
    context: Context,
    digest: str,
    stages: Sequence[Stage],
    options: CompileOptions,
    dump: Dump,
    on_stage: OnStage,
) -> Compiled:
    """Take a copy of `module` through the stages for each target; the last one gets itself."""
    profiles = [PROFILES[name] for name in options.targets]
    constants = assemble.ConstantPool()
    functions: tuple[Function, ...] = ()
    targets: list[CompiledTarget] = []
    variants: list[Variant] = []
    for index, profile in enumerate(profiles):
        mine = module if index == len(profiles) - 1 else module.clone()
        road = _Road(context, profile, options, dump, on_stage)
        kernels, schedules = road.kernels(mine, stages)
        if options.metallib and profile.api == "metal":
            from ingot.compiler.driver.metallibs import add_metallibs

            on_stage(f"{profile.name}: metallib")
            kernels = add_metallibs(kernels, profile, options.math, options.metallib, dump)
        variants.append(assemble.variant(mine, kernels, profile, options.math, constants))
        functions = assemble.functions(mine)
        targets.append(CompiledTarget(profile, mine, kernels, schedules))
    provenance = Provenance(
        compiler_version=VERSION,
        pipeline=";".join(_pipelines(options, profiles)),
        spirv_cross_version=_spirv_cross_version(profiles),
        input_hash=digest,
    )
    bundle = Bundle(functions, constants.entries(), tuple(variants), provenance)
    return Compiled(bundle, tuple(targets), warnings(module))


def emit_text(compiled: Compiled, what: Literal["mlir", "spirv", "msl", "bundle"]) -> str:
    """The final IR, or every kernel's SPIR-V or MSL, of all targets as one text."""
    from ingot.targets.spirv import disassemble

    parts: list[str] = []
    for target in compiled.targets:
        if what == "mlir":
            parts.append(f"// target: {target.profile.name}\n{module_text(target.module)}\n")
            continue
        for kernel in target.kernels:
            comment = "//" if what == "msl" else ";"
            head = f"{comment} target: {target.profile.name}, kernel: {kernel.name}\n"
            code = kernel.kernel.msl if what == "msl" else disassemble(kernel.kernel.spirv)
            if code:
                parts.append(head + code)
    return "\n".join(parts)


@dataclass(frozen=True)
class _Road:
    """How the stages for one target run."""

    context: Context
    profile: TargetProfile
    options: CompileOptions
    dump: Dump
    on_stage: OnStage

    def run(self, module: ModuleOp, stage: Stage) -> None:
        """Take a module through a stage."""
        name = self.profile.name
        self.on_stage(f"{name}: {stage.name}")
        _run_stage(module, self.context, stage, self.options, self.profile)
        self.dump.stage(name, stage.number, stage.name, module)

    def kernels(
        self, module: ModuleOp, stages: Sequence[Stage]
    ) -> tuple[tuple[CompiledKernel, ...], tuple[ScheduleEntry, ...]]:
        """The code of the kernels of a module (L1), and, if asked for, their schedules."""
        plan, *rest = stages
        self.run(module, plan)
        signatures = assemble.kernel_signatures(module)
        keys = _schedules_given(module, self.profile, self.options)
        count = process_count(len(signatures), self.options)
        if count > 1:
            self.on_stage(f"{self.profile.name}: kernels")
            silent = replace(self, on_stage=_in_silence)
            compiled = compile_in_processes(
                module, count, lambda part: silent._finish(part, rest, signatures)
            )
            return compiled, ()
        schedules: list[ScheduleEntry] = []

        def on_tiles(tiled: ModuleOp) -> None:
            from ingot.compiler.driver.schedules import get_schedules

            schedules.extend(get_schedules(tiled, self.profile, keys))

        return self._finish(module, rest, signatures, on_tiles if keys else None), tuple(schedules)

    def _finish(
        self,
        module: ModuleOp,
        stages: Sequence[Stage],
        signatures: Mapping[str, assemble.KernelSignature],
        on_tiles: Callable[[ModuleOp], None] | None = None,
    ) -> tuple[CompiledKernel, ...]:
        """The code of the kernels of a module (L2), which `on_tiles` is shown at L3."""
        for stage in stages:
            self.run(module, stage)
            if stage.name == "tiles" and on_tiles is not None:
                on_tiles(module)
        name = self.profile.name
        self.on_stage(f"{name}: code")
        with phase(self.options.timing, f"code {name}"):
            return compile_kernels(module, signatures, self.profile, self.options, self.dump)


def _in_silence(stage: str) -> None:
    """Progress that nobody sees."""


def _run_stage(
    module: ModuleOp,
    context: Context,
    stage: Stage,
    options: CompileOptions,
    profile: TargetProfile,
) -> None:
    watch = Instrumentation(
        verify_each=options.verify_each,
        print_after=options.print_after,
        print_after_all=options.print_after_all,
        timing=options.timing,
        keep_before=options.keep_before,
        after=_verify_conversion if stage is STAGES[0] and _is_foreign(module) else None,
    )
    passes = passes_with_work(stage.pipeline(options, profile), module)
    name = stage.name if stage is STAGES[0] else f"{stage.name} {profile.name}"
    with phase(options.timing, name):
        run_passes(module, context, passes, watch)
    if options.on_module is not None:
        options.on_module(profile, stage.name, module)


def _schedules_given(
    module: ModuleOp, profile: TargetProfile, options: CompileOptions
) -> dict[str, str]:
    """Put the schedules of the options on the kernels; the keys of all kernels, if asked for."""
    if not options.schedules and not options.keep_schedules:
        return {}
    from ingot.compiler.driver.schedules import kernel_keys, set_schedules

    set_schedules(module, profile, options.schedules)
    return kernel_keys(module) if options.keep_schedules else {}


def _pipelines(options: CompileOptions, profiles: list[TargetProfile]) -> list[str]:
    """What made the bundle: the passes for each target, and a digest of the schedules given."""
    parts = [f"{profile.name}={whole_pipeline(options, profile)}" for profile in profiles]
    if options.schedules:
        from ingot.compiler.driver.schedules import schedules_text

        digest = hashlib.sha256(schedules_text(options.schedules).encode()).hexdigest()
        parts.append(f"schedules={digest[:16]}")
    return parts


_CONVERSIONS = {"convert-stablehlo": ("stablehlo.", "chlo."), "tosa-to-linalg": ("tosa.",)}
"""Passes that leave other dialects behind, and the prefixes of those dialects' ops."""


def _is_foreign(module: ModuleOp) -> bool:
    prefixes = tuple(prefix for group in _CONVERSIONS.values() for prefix in group)
    return any(op.name.startswith(prefixes) for op in module.walk())


def _verify_conversion(pass_name: str, module: ModuleOp) -> None:
    """Hold a converted program to the rules: other dialects check few of their types."""
    if pass_name in _CONVERSIONS:
        verify(module, f"after the pass `{pass_name}`")


def _spirv_cross_version(profiles: list[TargetProfile]) -> str:
    """The version of SPIRV-Cross that wrote the MSL; empty when no target has MSL."""
    if not any(profile.api == "metal" for profile in profiles):
        return ""
    from ingot.targets import pyspirv

    return str(pyspirv.load().version)
