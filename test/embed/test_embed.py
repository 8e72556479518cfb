"""The C library: programs run as in Python, damaged bundles are refused, sizes are kept.

Needs a C compiler; running needs Vulkan's headers, too.
"""

from __future__ import annotations

import random
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.bundles import (
    PROGRAMS,
    call_of_main,
    compiled,
    every_command,
    tiny_weights,
    with_weights,
)
from support.harness import EXAMPLES, ROOT, Array, assert_close, device

import ingot.runtime as rt
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.reader import read_bundle
from ingot.targets.bundle.writer import write_bundle

EMBED = ROOT / "runtime" / "embed"
HERE = Path(__file__).parent
SANITIZED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
INCLUDES = [f"-I{EMBED / 'include'}", f"-I{EMBED / 'vulkan'}", f"-I{EMBED}"]

INPUTS: dict[str, list[Array]] = {
    "loop": [np.arange(8, dtype=np.float32)],
    "while": [np.float32(1.5).reshape(())],
    "open": [np.arange(15, dtype=np.float32).reshape(5, 3), np.ones((5, 3), np.float32)],
    "constant": [np.arange(3, dtype=np.float32)],
}


def build(output: Path, *arguments: str | Path) -> Path:
    """Compile C; the test is skipped where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, *WARNINGS, *INCLUDES, *map(str, arguments), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def run_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not Path("/usr/include/vulkan/vulkan.h").exists():
        pytest.skip("no headers of Vulkan")
    device("vulkan")
    sources = [*EMBED.glob("*.c"), *EMBED.glob("vulkan/*.c"), HERE / "run_bundle.c"]
    # The sanitizers' leak check would count what the driver keeps.
    output = tmp_path_factory.mktemp("run") / "run_bundle"
    return build(output, *SANITIZED, *sources, "-lvulkan")


@pytest.fixture(scope="module")
def open_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("open") / "open_bundle"
    return build(output, *SANITIZED, *EMBED.glob("*.c"), HERE / "open_bundle.c")


def call(program: Path, bundle: bytes, inputs: list[Array], capacities: list[int], folder: Path):
    """Run `main`: the process, and the files of the results."""
    words, outputs = call_of_main(bundle, inputs, capacities, folder)
    command = [str(program), *words]
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done, outputs


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_as_in_python(name: str, run_bundle: Path, tmp_path: Path) -> None:
    module = read_module(PROGRAMS[name], "test.mlir", make_context())
    expected = evaluate(module, "main", INPUTS[name])
    sizes = [value.nbytes for value in expected]
    done, outputs = call(run_bundle, compiled(name), INPUTS[name], sizes, tmp_path)
    assert done.returncode == 0, done.stderr
    shapes = ["x".join(map(str, value.shape)) for value in expected]
    assert done.stdout.splitlines() == shapes
    for file, value in zip(outputs, expected, strict=True):
        assert_close(np.fromfile(file, value.dtype).reshape(value.shape), value)


def test_what_does_not_fit_is_refused(run_bundle: Path, tmp_path: Path) -> None:
    bundle = compiled("open")
    x, y = INPUTS["open"]
    done, _ = call(run_bundle, bundle, [x, y[:4]], [60], tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: dimension 0 of argument 1 must be dimension 0 of argument 0\n"
    done, _ = call(run_bundle, bundle, [x, y], [56], tmp_path)
    assert done.stderr == "error: result 0 needs 60 bytes\n"


WRAPPED = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"


def build_faults(output: Path, *arguments: str | Path) -> Path:
    """`faults.c`, whose allocations can fail; needs a linker that wraps functions."""
    if sys.platform != "linux":
        pytest.skip("functions are wrapped by the linker of Linux")
    sources = (*EMBED.glob("*.c"), HERE / "checking_device.c", HERE / "faults.c")
    return build(output, *SANITIZED, *sources, *arguments, WRAPPED)


def test_every_failure_has_a_sentence_and_the_next_call_works(tmp_path: Path) -> None:
    faults = build_faults(tmp_path / "faults")
    bundle, weights = with_weights()
    (tmp_path / "weights").write_bytes(weights)
    cases = [(bundle, [str(tmp_path / "weights")]), *((compiled(name), []) for name in PROGRAMS)]
    for content, words in cases:
        (tmp_path / "bundle").write_bytes(content)
        command = [str(faults), str(tmp_path / "bundle"), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"\d+ faults\n\d+ callbacks\n", done.stdout)


def test_a_driver_that_fails_is_survived(run_bundle: Path, tmp_path: Path) -> None:
    """Each call of the driver fails for want of memory, and once because it is lost."""
    header = ["-DVULKAN", "-include", HERE / "vulkan_faults.h"]
    faults = build_faults(tmp_path / "faults", *header, *EMBED.glob("vulkan/*.c"), "-lvulkan")
    (tmp_path / "bundle").write_bytes(compiled("open"))
    done = subprocess.run(
        [str(faults), str(tmp_path / "bundle")],
        capture_output=True,
        text=True,
        env={"ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("decoration", "value"), [(33, 9), (34, 1)], ids=["binding", "descriptor set"]
)
def test_descriptors_that_nobody_binds_are_refused(
    run_bundle: Path, tmp_path: Path, decoration: int, value: int
) -> None:
    """A driver would follow a pointer that is not there."""
    whole = compiled("open")
    head = struct.pack("<I", 4 << 16 | 71)
    pattern = b"(" + re.escape(head) + b".{4})" + re.escape(struct.pack("<II", decoration, 0))
    changed = struct.pack("<II", decoration, value)
    damaged = re.sub(pattern, lambda m: m.group(1) + changed, whole, flags=re.S)
    done, _ = call(run_bundle, damaged, INPUTS["open"], [60], tmp_path)
    assert "uses a buffer that the bundle does not bind" in done.stderr
    with pytest.raises(rt.KernelError, match="uses a buffer that the bundle does not bind"):
        rt.loads(damaged).bind(device("vulkan"))


def test_weights_beside_the_bundle(run_bundle: Path, tmp_path: Path) -> None:
    bundle, weights = with_weights()
    (tmp_path / "w.safetensors").write_bytes(weights)
    done, (output,) = call(run_bundle, bundle, [], [4096], tmp_path)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == bytes([1]) * 4096
    (tmp_path / "w.safetensors").unlink()
    done, _ = call(run_bundle, bundle, [], [4096], tmp_path)
    assert done.stderr == (
        "error: the weights of the bundle are missing: they are in 'w.safetensors'\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'"I8"', b'"U8"', "have changed: k has another type"),
        (b"[4]", b"[5]", "have changed: k has another type"),
        (b"[0,4]", b"[1,5]", "have changed: k lies outside of the file"),
        (b"[0,4]", b"[0,3]", "have changed: k lies outside of the file"),
        (b'"k"', b'"l"', "have changed: k is missing"),
        (b"\1\2\3", b"\1\2\4", "have changed: k has other values than when the bundle was"),
        (b"}}", b"}]", "are no safetensors file"),
        (b'{"a":"', b'{"a":' + b"[" * 6, "are no safetensors file"),
    ],
)
def test_weights_that_have_changed_are_refused(
    run_bundle: Path, tmp_path: Path, old: bytes, new: bytes, sentence: str
) -> None:
    bundle, weights = tiny_weights()
    size = weights.index(b"}}") + 2
    changed = weights.replace(old, new)
    assert changed != weights
    length = size - 8 + len(changed) - len(weights)
    (tmp_path / "w.safetensors").write_bytes(length.to_bytes(8, "little") + changed[8:])
    done, _ = call(run_bundle, bundle, [], [4], tmp_path)
    assert (done.returncode, sentence in done.stderr) == (1, True), done.stderr


def test_damaged_bundles_are_refused_as_python_refuses_them(
    open_bundle: Path, tmp_path: Path
) -> None:
    whole = compiled("while")
    rng = random.Random(5)
    files: list[Path] = []
    for position in range(200):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(len(data) - 4)
            if rng.random() < 0.5:
                data[at] ^= 1 << rng.randrange(8)
            else:
                number = rng.choice((0, 1, 4, 2**31 - 1, 2**32 - 1, rng.randrange(len(data))))
                struct.pack_into("<I", data, at & ~3, number)
        if rng.random() < 0.05:
            del data[rng.randrange(len(data)) :]
        files.append(tmp_path / f"{position}.ingot")
        files[-1].write_bytes(data)
    done = subprocess.run([str(open_bundle), *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(files)
    refused = 0
    for file, answer in zip(files, answers, strict=True):
        if answer != "ok":
            refused += 1
            continue
        try:
            read_bundle(file.read_bytes(), file.name)
        except BundleError as reason:
            # The C library reads no names of results, and takes no table twice.
            pytest.fail(f"{file.name}: {reason}")
    assert refused > 20


def test_it_is_small_and_its_header_is_one_page(tmp_path: Path) -> None:
    """As object files, and as a shared library without symbols, Vulkan's callbacks included."""
    options = ["-Os", "-fPIC", "-fvisibility=hidden"]
    objects = [
        build(tmp_path / f"{source.stem}.o", *options, "-c", source) for source in EMBED.glob("*.c")
    ]
    assert sum(path.stat().st_size for path in objects) < 100 * 1024
    vulkan = EMBED.glob("vulkan/*.c") if Path("/usr/include/vulkan/vulkan.h").exists() else ()
    sources = (*EMBED.glob("*.c"), *vulkan)
    library = build(tmp_path / "libingot.so", "-Os", "-fPIC", "-shared", "-s", *sources)
    assert library.stat().st_size < 100 * 1024
    lines = (EMBED / "include" / "ingot.h").read_text().splitlines()
    assert len(lines) < 75 and max(map(len, lines)) <= 120
    example = (EXAMPLES / "embed" / "main.c").read_text()
    assert len(example.splitlines()) < 60


def test_the_schema_has_the_same_fields() -> None:
    """`schema.h` counts the fields of `ingot.fbs`; a union takes two places."""
    schema = (ROOT / "targets" / "bundle" / "ingot.fbs").read_text()
    header = re.sub(r"\s+", " ", (EMBED / "schema.h").read_text())
    unions = set(re.findall(r"^union (\w+)", schema, re.M))
    for table, body in re.findall(r"^table (\w+) \{(.*?)^\}", schema, re.M | re.S):
        prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", table).upper()
        fields: list[str] = []
        for name, kind in re.findall(r"^\s*(\w+):\[?(\w+)", body, re.M):
            if kind in unions:
                fields.append(f"{prefix}_{name.upper()}_TYPE")
            fields.append(f"{prefix}_{name.upper()}")
        if fields and fields[0] in header:
            assert f"enum {{ {', '.join(fields)} }};" in header, table


@pytest.mark.parametrize("control", ["\x1b[31m", "\x00", "\n", "\x7f", "\x9b"])
def test_names_with_control_characters_are_refused(
    open_bundle: Path, tmp_path: Path, control: str
) -> None:
    """Terminals obey them; the writer refuses them, too, so they are put into the bytes here."""
    name, mark = f"m{control}n", "m" + "?" * len(control.encode()) + "n"
    bundle = every_command()
    renamed = write_bundle(replace(bundle, functions=(replace(bundle.functions[0], name=mark),)))
    data = renamed.replace(mark.encode(), name.encode())
    assert data != renamed
    (tmp_path / "bundle").write_bytes(data)
    done = subprocess.run(
        [str(open_bundle), str(tmp_path / "bundle")], capture_output=True, text=True
    )
    assert done.stdout == "a name in the bundle has control characters\n"
    with pytest.raises(BundleError, match=r"^a name: the name 'm\S+n' has control characters$"):
        read_bundle(data, "a name")
