"""Kernels of strangers: what is not compiled, and what a kernel cannot do where it is locked in."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.devices.host import seccomp
from ingot.runtime.devices.host.cache import cache_directory
from ingot.runtime.devices.host.sandbox import SandboxedHostDevice, Worker
from ingot.runtime.devices.host.vetting import objection
from ingot.runtime.hal import BufferRange, Device, Executable
from ingot.targets.bundle.model import Access, Binding, DType, Kernel

HEADER = "#include <metal_stdlib>\n#include <simd/simd.h>\nusing namespace metal;\n"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are locked in on Linux only")
SECONDS = 5.0

KERNELS = {
    "right": "x[t] = x[t] + 1.0;",
    "far": "x[(long(1) << 34) + long(t) * 4096] = 1.0;",
    "null": "*(device float*)(16) = 1.0;",
    "past": "x[32] = 1.0;",
    "forged": "device float* p = *(device float* device*)x; p[0] = 7.0;",
    "stack": "thread float a[4]; for (int i = 0; i < 100000; i++) a[i] = x[i % 32]; x[0] = a[t];",
    "endless": "while (x[1] > -1.0) { x[1] = x[1] + x[0]; }",
}
"""Bodies of kernels with 32 threads t and a buffer x of 32 floats."""


def kernel(name: str, text: str) -> Kernel:
    return Kernel(
        name,
        f"{name}_main",
        (32, 1, 1),
        (Binding("x", DType.F32, Access.READ_WRITE),),
        spirv=b"",
        msl=f"{HEADER}kernel void {name}_main(device float* x [[buffer(0)]], "
        f"uint t [[thread_index_in_threadgroup]]) {{ {text} }}\n",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('#include "/etc/passwd"', "line 2"),
        ("#include <metal_stdlib.h>", "line 2"),
        ("#define float int", "line 2"),
        ('asm("nop");', "'asm'"),
        ('__asm__("nop");', "'__asm__'"),
        ('_Pragma("once")', "'_Pragma'"),
        ("__attribute__((constructor)) void f() {}", "'__attribute__'"),
        ("__attribute__((always_inline, constructor)) void f() {}", "'__attribute__'"),
        ('extern "C" int system(const char*);', "'extern'"),
        ("int x = __builtin_trap();", "'__builtin_trap'"),
        ("// a comment \\\nint x;", r"'\\\\'"),
        ("// a comment \r asm volatile (0);", r"'\\r'"),
        ("%:include <metal_stdlib>", "'%:'"),
        ("??=include <metal_stdlib>", r"'\?\?='"),
        ("int as\\u006d = 1;", r"'\\\\'"),
        ("int é = 1;", r"'é'"),
        ("char c = 'a';", '"\'"'),
        ("void f() { ingot_barrier(); }", "'ingot_barrier'"),
        ("/* # */ int a; # include <metal_stdlib>", "'#'"),
        ("{" * 200, "'{'"),
        ("} namespace other {", "'}'"),
    ],
)
def test_what_the_compiler_never_writes_is_not_compiled(text: str, shown: str) -> None:
    reason = objection(f"#include <metal_stdlib>\n{text}\n")
    assert reason.startswith("line ") and reason.endswith("no bundle of Ingot's compiler has")
    assert re.search(shown, reason), reason


def test_what_the_compiler_writes_is_compiled() -> None:
    text = (
        "#pragma METAL fp math_mode(safe)\n"
        '#pragma clang diagnostic ignored "-Wmissing-prototypes"\n'
        f"{HEADER}// anything: #asm 'é'\n"
        "static inline __attribute__((always_inline)) float a__b(float _x) { return _x; }\n"
    )
    assert objection(text) == ""
    assert objection(text.replace("é", "\r")) != ""


def test_the_host_device_asks_before_it_compiles() -> None:
    device = rt.open_device("host")
    bad = kernel("bad", "").msl + 'extern "C" void abort();'
    with pytest.raises(rt.KernelError, match="MSL of kernel 'bad' is not compiled: line 5 has"):
        device.load([Kernel("bad", "bad_main", (1, 1, 1), (), b"", bad)], "safe", (3, 1))
    device.close()


@pytest.fixture(scope="module")
def device() -> Device:
    return SandboxedHostDevice(SECONDS)


def _takes_filters() -> bool:
    """Whether the system lets a process filter its own calls; some containers' do not."""
    child = os.fork()
    if child == 0:
        try:
            seccomp.allow_only(["exit_group"])
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture(scope="module")
def executable(device: Device) -> Executable:
    if not _takes_filters():
        pytest.skip("this system lets no process filter its own calls")
    return device.load([kernel(n, text) for n, text in KERNELS.items()], "safe", (3, 1))


def run(device: Device, executable: Executable, name: str, values: np.ndarray) -> np.ndarray:
    """The buffer after a kernel ran on `values`."""
    buffer = device.allocate(values.nbytes)
    buffer.write(0, values.tobytes())
    commands = device.create_command_buffer()
    commands.begin()
    commands.dispatch(executable.lookup(name), (1, 1, 1), [buffer.whole])
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    try:
        done.wait(1, 60)
    finally:
        left = np.frombuffer(buffer.read(), np.float32)
    return left


@LINUX
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("far", "kernel 'far"),
        ("null", "kernel 'null"),
        ("past", "write of buffer 'x' at byte offset 128, outside of its 128 bytes"),
        ("stack", "kernel 'stack"),
        ("endless", "kernel 'endless' did not end within 5 seconds and was stopped"),
    ],
)
def test_a_kernel_that_goes_wrong_is_told_and_the_next_one_works(
    device: Device, executable: Executable, name: str, sentence: str
) -> None:
    values = np.arange(32, dtype=np.float32)
    with pytest.raises(rt.KernelError, match=sentence):
        run(device, executable, name, values)
    assert np.array_equal(run(device, executable, "right", values), values + 1)


@LINUX
def test_a_kernel_cannot_write_to_this_process(device: Device, executable: Executable) -> None:
    """It is told the address of an array of ours, and writes there: in its own process."""
    secret = np.full(4, 5.0, np.float32)
    values = np.zeros(32, np.float32)
    values.view(np.uint64)[0] = secret.ctypes.data
    with pytest.raises(rt.KernelError):
        run(device, executable, "forged", values)
    assert set(secret) == {5.0}


@LINUX
def test_a_library_has_the_code_of_one_kernel(device: Device) -> None:
    """Else it would run in a later process, under the name of the other kernel in the cache."""
    for other in ("right", "past"):
        device.load([kernel(other, KERNELS[other])], "safe", (3, 1))
    device.load([kernel(n, KERNELS[n]) for n in ("right", "far", "past")], "safe", (3, 1))
    libraries = list(cache_directory().glob("kernel-*.so"))
    assert len(libraries) == 3
    assert len({library.stat().st_ino for library in libraries}) == 3


@LINUX
def test_shared_bytes_stay_shared(device: Device) -> None:
    """Two bindings on one buffer, the second behind the first and over its end."""
    text = HEADER + (
        "kernel void two_main(device float* x [[buffer(0)]], device float* y [[buffer(1)]]) "
        "{ x[4] = 3.0; x[0] = y[0]; y[1] = 4.0; }\n"
    )
    names = tuple(Binding(n, DType.F32, Access.READ_WRITE) for n in "xy")
    loaded = device.load([Kernel("two", "two_main", (1, 1, 1), names, b"", text)], "safe", (3, 1))
    buffer = device.allocate(48)
    buffer.write(0, bytes(48))
    commands = device.create_command_buffer()
    commands.begin()

    commands.dispatch(
        loaded.pipelines[0], (1, 1, 1), [BufferRange(buffer, 0, 32), BufferRange(buffer, 16, 32)]
    )
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    done.wait(1, 60)
    assert list(np.frombuffer(buffer.read(), np.float32)[:6]) == [3, 0, 0, 0, 3, 4]


@LINUX
def test_a_locked_process_opens_and_starts_nothing() -> None:
    program = """
import os, socket
from ingot.runtime.devices.host import seccomp
read, write = os.pipe()
seccomp.allow_only(seccomp.LOADING)
open(__file__ if "__file__" in globals() else "/proc/self/maps").close()
for attempt in (lambda: open("/tmp/ingot-none", "w"), os.fork, socket.socket):
    try:
        attempt()
        os.write(write, b"!")
    except OSError:
        os.write(write, b".")
seccomp.allow_only(seccomp.RUNNING)
try:
    open("/proc/self/maps")
    os.write(write, b"!")
except OSError:
    os.write(write, b".")
print(os.read(read, 9).decode())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "....\n", done.stderr


@LINUX
def test_the_worker_knows_nothing_of_our_environment(
    device: Device, executable: Executable, monkeypatch: pytest.MonkeyPatch
) -> None:
    del executable
    monkeypatch.setenv("INGOT_SECRET", "secret")
    loaded = device.load([kernel("right", KERNELS["right"])], "safe", (3, 1))
    worker = loaded.pipelines[0].host_kernel.worker  # type: ignore[attr-defined]
    with open(f"/proc/{worker._process.pid}/environ", "rb") as file:
        assert b"secret" not in file.read()


@LINUX
def test_no_thread_of_the_worker_is_left_out(executable: Executable) -> None:
    process = executable.pipelines[0].host_kernel.worker._process  # type: ignore[attr-defined]
    threads = list(Path(f"/proc/{process.pid}/task").iterdir())
    assert threads
    for thread in threads:
        assert "\nSeccomp:\t2\n" in (thread / "status").read_text()


@LINUX
def test_the_worker_imports_nothing_from_the_current_folder(
    device: Device, executable: Executable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del executable
    (tmp_path / "json.py").write_text("open('ran', 'w')\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    device.load([kernel("right", KERNELS["right"])], "safe", (3, 1))
    assert not (tmp_path / "ran").exists()


@LINUX
@pytest.mark.parametrize("said", [b"", b"\0", b"\0\1"])
def test_a_worker_that_says_half_of_an_answer_is_not_waited_for(said: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs, subprocess.Popen(["sleep", "60"]) as process:
        worker = Worker.__new__(Worker)
        worker._channel, worker._process = ours, process
        theirs.sendall(said) if said else theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(rt.KernelError, match="a kernel ended before it answered"):
            worker._answer("a kernel", 10)
        assert process.poll() is not None


def test_other_devices_refuse_bundles_from_strangers() -> None:
    with pytest.raises(rt.DeviceUnavailableError, match="'metal' cannot keep strangers' kernels"):
        rt.open_device("metal", untrusted=True)
