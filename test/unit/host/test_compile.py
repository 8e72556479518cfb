"""The compile cache, batches, compile errors and the choice of a clang."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ingot.runtime.devices.host import cache, toolchain
from ingot.runtime.devices.host.compile import KernelSource, compile_kernels
from ingot.runtime.devices.host.engine import build_engine
from ingot.runtime.devices.host.errors import ClangNotFoundError, KernelCompileError
from ingot.runtime.devices.host.kernel import HostKernel
from ingot.runtime.devices.host.toolchain import Clang, find_checker, find_clang
from ingot.runtime.errors import HalUsageError

from .launch import HEADER, bind, launch

KERNEL = """
struct Same {{ float x; }};
static inline float helper(float x) {{ return x + {value}; }}
kernel void main0(device Same* o [[buffer(0)]], uint i [[thread_position_in_grid]]) {{
  o[i].x = helper(o[i].x);
}}
"""


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path))
    return tmp_path / "host"


def run(kernel: HostKernel) -> float:
    data = np.ones(4, "f4")
    kernel.run(bind({"o": data}), (1, 1, 1), (4, 1, 1))
    return float(data[3])


def test_kernels_with_equal_names_share_a_batch(empty_cache: Path) -> None:
    sources = [KernelSource(HEADER + KERNEL.format(value=v), "main0") for v in range(5)]
    kernels = [HostKernel(k) for k in compile_kernels(sources, jobs=1)]
    assert [run(k) for k in kernels] == [1, 2, 3, 4, 5]
    inodes = {path.stat().st_ino for path in empty_cache.glob("kernel-*")}
    assert len(list(empty_cache.glob("kernel-*"))) == 5 and len(inodes) == 1


def test_macros_do_not_reach_other_kernels(empty_cache: Path) -> None:
    sources = [
        KernelSource(f"#define helper spoiled\n{HEADER}{KERNEL.format(value=1)}", "main0"),
        KernelSource(HEADER + KERNEL.format(value=2), "main0"),
        KernelSource(HEADER + KERNEL.format(value=3), "main0"),
    ]
    assert [run(HostKernel(k)) for k in compile_kernels(sources)] == [2, 3, 4]


def test_a_text_may_overload_one_of_metals_functions(empty_cache: Path) -> None:
    text = """
    template <typename T, typename E = typename enable_if<is_integral<T>::value>::type>
    inline T sign(T x) { return x == T(0) ? T(0) : x > T(0) ? T(1) : T(-1); }
    kernel void main0(device float* o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      o[i] = sign(-2.5f) + 10 * sign(int(7));
    }
    """
    sources = [KernelSource(HEADER + t, "main0") for t in (text, KERNEL.format(value=1))]
    assert [run(HostKernel(k)) for k in compile_kernels(sources)] == [9, 2]


def test_a_wrong_kernel_in_a_batch_is_named(empty_cache: Path) -> None:
    wrong = "kernel void wrong(device float* o [[buffer(0)]]) {\n  o[0] = missing;\n}\n"
    sources = [
        KernelSource(HEADER + KERNEL.format(value=1), "main0"),
        KernelSource(HEADER + wrong, "wrong"),
        KernelSource(HEADER + KERNEL.format(value=2), "main0"),
    ]
    with pytest.raises(
        KernelCompileError,
        match="kernel 'wrong' does not compile for the host device: line 4: use of undeclared",
    ):
        compile_kernels(sources, jobs=1)


def test_cached_kernels_need_no_compiler_run(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = KernelSource(HEADER + KERNEL.format(value=8), "main0")
    compile_kernels([source])

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("clang was started")

    monkeypatch.setattr(subprocess, "Popen", fail)
    assert run(HostKernel(compile_kernels([source])[0])) == 9


def test_processes_may_fill_one_cache_together(tmp_path: Path) -> None:
    program = (
        "from ingot.runtime.devices.host.compile import KernelSource, compile_kernels\n"
        f"compile_kernels([KernelSource({HEADER + KERNEL.format(value=1)!r}, 'main0')])\n"
    )
    environment = {**os.environ, "INGOT_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    left = [p.name for p in (tmp_path / "host").iterdir() if p.name.startswith(".")]
    assert left == []


def test_missing_entry_point_lists_what_there_is() -> None:
    with pytest.raises(KernelCompileError, match="no kernel 'other'; its kernels: main0"):
        compile_kernels([KernelSource(HEADER + KERNEL.format(value=1), "other")])


def test_texture_parameter_is_refused() -> None:
    text = "kernel void k(texture2d<float> t [[texture(0)]]) { }"
    with pytest.raises(KernelCompileError, match="neither memory nor an id"):
        launch(text, "k", {})


def test_wrong_number_of_buffers() -> None:
    data = np.zeros(4, "f4")
    text = (
        "kernel void k(device float* a [[buffer(0)]], device float* b [[buffer(1)]], "
        "device float* c [[buffer(2)]]) { }"
    )
    with pytest.raises(HalUsageError, match=r"has buffers \[0, 1, 2\], but 1 were bound"):
        launch(text, "k", {"a": data})


def test_too_many_threads() -> None:
    with pytest.raises(HalUsageError, match="a threadgroup of 1025 threads"):
        launch("kernel void k(device float* a [[buffer(0)]]) { }", "k", {"a": np.zeros(1)}, 1, 1025)


@pytest.fixture
def fresh_search(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    find_clang.cache_clear()
    find_checker.cache_clear()
    monkeypatch.delenv("INGOT_CLANG", raising=False)
    yield monkeypatch
    monkeypatch.undo()
    find_clang.cache_clear()
    find_checker.cache_clear()


def fake_clang(folder: Path, name: str, output: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def no_module(*_: object) -> None:
    return None


def test_no_clang_says_how_to_install_one(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh_search.setenv("PATH", str(tmp_path))
    fresh_search.setattr(toolchain.importlib.util, "find_spec", no_module)
    fresh_search.setattr(toolchain.sys, "platform", "linux")
    with pytest.raises(ClangNotFoundError, match=r"found none: apt install clang-19, or pip"):
        find_clang()


def test_old_clang_is_explained(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_clang(tmp_path, "clang", "Debian clang version 14.0.6")
    fresh_search.setenv("PATH", str(tmp_path))
    fresh_search.setattr(toolchain.importlib.util, "find_spec", no_module)
    fresh_search.setattr(toolchain.sys, "platform", "linux")
    with pytest.raises(ClangNotFoundError, match=r"is version 14.0.6, without _Float16"):
        find_clang()


def test_newest_clang_is_taken(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number in (16, 18, 21):
        fake_clang(tmp_path, f"clang-{number}", f"clang version {number}.1.0")
    fresh_search.setenv("PATH", str(tmp_path))
    assert find_clang().version == "21.1.0"


def test_environment_variable_wins(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh_search.setenv("INGOT_CLANG", fake_clang(tmp_path, "mine", "clang version 17.0.1"))
    assert find_clang().version == "17.0.1"
    find_clang.cache_clear()
    fresh_search.setenv("INGOT_CLANG", "/nowhere/clang")
    with pytest.raises(ClangNotFoundError, match="'/nowhere/clang', but there is no"):
        find_clang()


def test_the_checker_may_be_another_clang(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh_search.setenv("INGOT_CLANG", fake_clang(tmp_path, "zig", "clang version 22.1.8"))
    fresh_search.setenv("PATH", str(tmp_path))
    fake_clang(tmp_path, "clang-16", "clang version 16.0.6")
    with pytest.raises(ClangNotFoundError, match=r"checking MSL needs a clang 17 or newer"):
        find_checker()
    fake_clang(tmp_path, "clang-18", "clang version 18.1.8")
    assert find_checker().version == "18.1.8"


def test_apple_clang_counts_on_its_own(fresh_search: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = fake_clang(tmp_path, "clang", "Apple clang version 15.0.0 (clang-1500.1.0.2.5)")
    fresh_search.setenv("INGOT_CLANG", path)
    assert find_clang() == Clang((path,), "15.0.0")


def test_engine_without_assembly(full_clang: str, empty_cache: Path) -> None:
    """The ucontext fallback runs a kernel with barriers, in a process of its own."""
    library = build_engine(find_clang(), ("-DINGOT_FIBER_UCONTEXT",))
    program = f"""
import ctypes, dataclasses
import numpy as np
from ingot.runtime.devices.host import compile, engine, kernel, memory
from ingot.runtime.devices.host.binding import Binding
found = engine.load_engine({str(library)!r})
for module in (compile, kernel, memory):
    module.engine = lambda: found
text = '''{HEADER}
kernel void k(device uint* o [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {{
  threadgroup uint t[64];
  t[i] = simd_sum(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[i] = t[63 - i];
}}'''
out = np.zeros(64, 'u4')
kernel.compile_kernel(text, 'k').run(
    [Binding('o', out.ctypes.data, out.nbytes)], (1, 1, 1), (64, 1, 1))
assert out.tolist() == [1520] * 32 + [496] * 32, out
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("target", ["aarch64-linux-gnu", "arm64-apple-macos13", "x86_64-macos"])
def test_context_switch_assembles_for(target: str, full_clang: str, tmp_path: Path) -> None:
    source = Path(toolchain.__file__).parent / "engine/fiber.cpp"
    command = [full_clang, f"--target={target}", "-std=c++17", "-ffreestanding", "-c", str(source)]
    run = subprocess.run(
        [*command, "-o", str(tmp_path / "fiber.o")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_the_cache_forgets_what_was_not_used_for_longest(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST_KERNELS", 4)
    folder = cache.cache_directory()
    for age in range(6):
        path = folder / f"kernel-{age}.so"
        path.write_text("")
        os.utime(path, (1000 - age, 1000 - age))
    cache.prune()
    assert sorted(p.name for p in folder.iterdir()) == [f"kernel-{age}.so" for age in range(4)]


def test_what_a_killed_process_left_is_removed_a_day_later(empty_cache: Path) -> None:
    del empty_cache
    old, new = (cache.cache_directory() / name for name in (".build-old", ".build-new"))
    for folder in (old, new):
        folder.mkdir()
        (folder / "kernels.cpp").write_text("")
    os.utime(old, (0, 0))
    cache.prune()
    assert not old.exists() and new.exists()


def test_threads_give_one_kernel_its_name_at_the_same_time(empty_cache: Path) -> None:
    del empty_cache
    folder = cache.cache_directory()
    made, path = folder / "made", folder / "kernel-x.so"
    made.write_bytes(b"library")
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(cache.link, made, path) for _ in range(2000)]:
            done.result()
    assert path.read_bytes() == b"library"
    assert sorted(entry.name for entry in folder.iterdir()) == ["kernel-x.so", "made"]
