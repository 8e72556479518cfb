"""Kernels on buffers, lowered and run: the values are right on Vulkan and in the MSL itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from unit.lowering.device import run

import ingot.runtime as rt
from ingot.runtime.hal import Device


@pytest.fixture(scope="module", params=["vulkan", "host"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    try:
        opened = rt.open_device(request.param)
    except rt.DeviceUnavailableError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def elementwise(body: str, inputs: list[str], output: str, count: int) -> str:
    """A kernel that computes `%r` from `%0`, `%1`, ... for each element."""
    arguments = [f"%in{k}: memref<{count}x{type_}>" for k, type_ in enumerate(inputs)]
    loads = [
        f"%{k} = memref.load %in{k}[%i] : memref<{count}x{type_}>" for k, type_ in enumerate(inputs)
    ]
    newline = "\n"
    return f"""
      func.func @kernel({", ".join(arguments)}, %out: memref<{count}x{output}>)
          attributes {{ingot.kernel}} {{
        scf.forall (%i) in ({count}) {{
          {newline.join(loads)}
          {body}
          memref.store %r, %out[%i] : memref<{count}x{output}>
        }} {{mapping = [#gpu.block<linear_dim_0>]}}
        return
      }}"""


@pytest.mark.parametrize("count", [1000, 1001, 3])
def test_vectors_stop_at_the_end(device: Device, count: int) -> None:
    text = f"""
      func.func @scale(%x: memref<{count}xf32>, %out: memref<{count}xf32>)
          attributes {{ingot.kernel, ingot.workgroup_size = array<i64: 64, 1, 1>}} {{
        %zero = arith.constant 0.0 : f32
        scf.forall (%b) in ({-(-count // 256)}) {{
          scf.forall (%t) in (64) {{
            %i = affine.apply affine_map<(b, t) -> (b * 256 + t * 4)>(%b, %t)
            %v = vector.transfer_read %x[%i], %zero : memref<{count}xf32>, vector<4xf32>
            %s = arith.addf %v, %v : vector<4xf32>
            vector.transfer_write %s, %out[%i] : vector<4xf32>, memref<{count}xf32>
          }} {{mapping = [#gpu.thread<linear_dim_0>]}}
        }} {{mapping = [#gpu.block<linear_dim_0>]}}
        return
      }}"""
    x = np.random.default_rng(0).standard_normal(count).astype(np.float32)
    assert np.array_equal(run(text, [x, np.zeros_like(x)], device)[1], x + x)


@pytest.mark.parametrize("threads", [1, 5, 64, 96, 256])
@pytest.mark.parametrize("type_", ["f32", "i64"])
def test_all_reduce_gives_every_thread_the_sum(device: Device, type_: str, threads: int) -> None:
    add = "arith.addf" if type_ == "f32" else "arith.addi"
    text = f"""
      func.func @row_sums(%x: memref<3x{threads}x{type_}>, %out: memref<3x{threads}x{type_}>)
          attributes {{ingot.kernel, ingot.workgroup_size = array<i64: {threads}, 1, 1>}} {{
        scf.forall (%b) in (3) {{
          scf.forall (%t) in ({threads}) {{
            %v = memref.load %x[%b, %t] : memref<3x{threads}x{type_}>
            %sum = gpu.all_reduce add %v uniform {{}} : ({type_}) -> {type_}
            %twice = gpu.all_reduce add %sum uniform {{}} : ({type_}) -> {type_}
            %r = {add} %sum, %twice : {type_}
            memref.store %r, %out[%b, %t] : memref<3x{threads}x{type_}>
          }} {{mapping = [#gpu.thread<linear_dim_0>]}}
        }} {{mapping = [#gpu.block<linear_dim_0>]}}
        return
      }}"""
    dtype = np.float32 if type_ == "f32" else np.int64
    x = np.random.default_rng(0).integers(-(2**20), 2**20, (3, threads)).astype(dtype)
    if type_ == "i64":
        x <<= 20
    expected = x.sum(axis=1, keepdims=True) * (1 + threads)
    got = run(text, [x, np.zeros_like(x)], device)[1]
    assert (got == expected).all() or np.allclose(got, expected, rtol=1e-6)
    assert (got == got[:, :1]).all()


def test_a_call_stays_before_the_branch_that_uses_its_result(device: Device) -> None:
    # the last shuffle of the reduction feeds a rounding function used under `if thread == 0`
    text = """
      func.func @bf16_sum(%x: memref<64xbf16>, %out: memref<1xbf16>)
          attributes {ingot.kernel, ingot.workgroup_size = array<i64: 64, 1, 1>} {
        %t = gpu.thread_id x
        %v = memref.load %x[%t] : memref<64xbf16>
        %sum = gpu.all_reduce add %v uniform {} : (bf16) -> bf16
        scf.forall (%i) in (1) {
          memref.store %sum, %out[%i] : memref<1xbf16>
        } {mapping = [#gpu.thread<linear_dim_0>]}
        return
      }"""
    one_bits = 0x3F80
    x = np.full(64, one_bits, np.uint16)
    got = run(text, [x, np.zeros(1, np.uint16)], device)[1]
    assert got[0] == np.float32(64).view(np.uint32) >> 16


def test_what_is_called_before_a_store_sees_the_old_value(device: Device) -> None:
    text = """
      func.func @order(%x: memref<8xf32>, %out: memref<8xf32>) attributes {ingot.kernel} {
        %one = arith.constant 1.0 : f32
        scf.forall (%i) in (8) {
          %v = memref.load %x[%i] : memref<8xf32>
          %e = math.exp %v : f32
          memref.store %one, %x[%i] : memref<8xf32>
          memref.store %e, %out[%i] : memref<8xf32>
        } {mapping = [#gpu.block<linear_dim_0>]}
        return
      }"""
    x = np.linspace(-1, 2, 8).astype(np.float32)
    got = run(text, [x, np.zeros_like(x)], device)
    assert np.allclose(got[1], np.exp(x), rtol=1e-6)
    assert (got[0] == 1).all()


def test_loops_carry_and_swap_their_state(device: Device) -> None:
    text = """
      func.func @fibonacci(%out: memref<32xi32>) attributes {ingot.kernel} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        scf.forall (%i) in (32) {
          %r:2 = scf.for %k = %c0 to %i step %c1 iter_args(%a = %zero, %b = %one) -> (i32, i32) {
            %s = arith.addi %a, %b : i32
            scf.yield %b, %s : i32, i32
          }
          memref.store %r#0, %out[%i] : memref<32xi32>
        } {mapping = [#gpu.thread<linear_dim_0>]}
        return
      }"""
    expected = [0, 1]
    while len(expected) < 32:
        expected.append(expected[-1] + expected[-2])
    assert run(text, [np.zeros(32, np.int32)], device)[0].tolist() == expected


def test_while_hands_out_what_its_test_passes_on(device: Device) -> None:
    text = """
      func.func @collatz(%x: memref<27xi64>, %steps: memref<27xi32>) attributes {ingot.kernel} {
        %zero = arith.constant 0 : i32
        %step = arith.constant 1 : i32
        %none = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %two = arith.constant 2 : i64
        %three = arith.constant 3 : i64
        scf.forall (%i) in (27) {
          %v = memref.load %x[%i] : memref<27xi64>
          %r:2 = scf.while (%n = %v, %k = %zero) : (i64, i32) -> (i32, i64) {
            %go = arith.cmpi sgt, %n, %one : i64
            scf.condition(%go) %k, %n : i32, i64
          } do {
          ^bb0(%k: i32, %n: i64):
            %rest = arith.remsi %n, %two : i64
            %even = arith.cmpi eq, %rest, %none : i64
            %next = scf.if %even -> (i64) {
              %half = arith.divsi %n, %two : i64
              scf.yield %half : i64
            } else {
              %product = arith.muli %n, %three : i64
              %odd = arith.addi %product, %one : i64
              scf.yield %odd : i64
            }
            %count = arith.addi %k, %step : i32
            scf.yield %next, %count : i64, i32
          }
          memref.store %r#0, %steps[%i] : memref<27xi32>
          memref.store %r#1, %x[%i] : memref<27xi64>
        } {mapping = [#gpu.thread<linear_dim_0>]}
        return
      }"""

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    x = np.arange(1, 28, dtype=np.int64)
    last, counts = run(text, [x, np.zeros(27, np.int32)], device)
    assert counts.tolist() == [steps(int(n)) for n in x]
    assert (last == 1).all()


def test_an_index_beyond_32_bits_does_not_wrap(device: Device) -> None:
    body = """
      %index = arith.index_cast %0 : i64 to index
      %low = arith.constant 0 : index
      %high = arith.constant 5 : index
      %a = arith.maxsi %index, %low : index
      %b = arith.minsi %a, %high : index
      %r = arith.index_cast %b : index to i32"""
    x = np.array([2, -3, 7, (1 << 32) + 2, -(1 << 40)], np.int64)
    got = run(elementwise(body, ["i64"], "i32", 5), [x, np.zeros(5, np.int32)], device)[1]
    assert got.tolist() == [2, 0, 5, 5, 0]


def test_wide_indices_reach_the_same_elements(device: Device) -> None:
    # a constant above 2**31 makes every index 64 bits wide
    body = """
      %huge = arith.constant 8589934592 : index
      %j = arith.minsi %i, %huge : index
      %w = arith.index_cast %j : index to i64
      %r = arith.addi %0, %w : i64"""
    x = np.arange(10, 16, dtype=np.int64)
    got = run(elementwise(body, ["i64"], "i64", 6), [x, np.zeros_like(x)], device)[1]
    assert got.tolist() == (x + np.arange(6)).tolist()


def test_booleans_are_bytes(device: Device) -> None:
    body = "%r = arith.cmpf olt, %0, %1 : f32"
    x = np.array([1, 2, np.nan, -0.0], np.float32)
    y = np.array([2, 1, 1, 0.0], np.float32)
    got = run(elementwise(body, ["f32", "f32"], "i1", 4), [x, y, np.full(4, 7, np.uint8)], device)
    assert got[2].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("name", ["tanh", "log1p", "erf", "sin", "asin"])
def test_formulas_survive_the_drivers(device: Device, name: str) -> None:
    # near zero each of them is the identity: reassociation would show
    x = (2.0 ** np.linspace(-30, -13, 64)).astype(np.float32)
    text = elementwise(f"%r = math.{name} %0 : f32", ["f32"], "f32", 64)
    got = run(text, [x, np.zeros_like(x)], device)[1]
    scale = 2 / np.sqrt(np.pi) if name == "erf" else 1.0
    assert np.allclose(got, x * scale, rtol=1e-4 if name == "log1p" else 2e-7)


@pytest.mark.parametrize("predicate", ["slt", "sle", "sgt", "sge"])
@pytest.mark.parametrize("bound", [9, 1 << 40], ids=["narrow", "wide"])
def test_orders_of_extended_integers(device: Device, predicate: str, bound: int) -> None:
    # Mesa 22.3 compares a sign-extended i32 with a constant wrongly.
    body = f"""
          %wide = arith.extsi %0 : i32 to i64
          %bound = arith.constant {bound} : i64
          %p = arith.cmpi {predicate}, %wide, %bound : i64
          %q = arith.cmpi {predicate}, %bound, %wide : i64
          %a = arith.extui %p : i1 to i32
          %b = arith.extui %q : i1 to i32
          %two = arith.constant 2 : i32
          %twice = arith.muli %b, %two : i32
          %r = arith.addi %a, %twice : i32"""
    x = np.array([-(1 << 31), -1, 0, 8, 9, 10, (1 << 31) - 1], np.int32)
    got = run(elementwise(body, ["i32"], "i32", len(x)), [x, np.zeros_like(x)], device)[1]
    compare = {"slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal}
    wide = x.astype(np.int64)
    expected = compare[predicate](wide, bound) + 2 * compare[predicate](bound, wide)
    assert np.array_equal(got, expected)
