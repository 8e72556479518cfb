"""Programs of dynamic shape of every kind: one bundle for all sizes, against the evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.harness import DEVICES, Array, assert_close, bundle_for, device, rt
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.writer import write_bundle

TEXT = (Path(__file__).parent / "data" / "dynamic.mlir").read_text()


def f(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def i(*shape: int, dtype: str = "int32") -> Array:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(dtype)


def n(value: int | bool | float, dtype: str) -> Array:
    return np.array(value, dtype)


ENTRIES = np.array([[0], [2], [2], [1], [0]], np.int32)

CALLS: dict[str, Sequence[Sequence[Array]]] = {
    "for_carry": [[f(k, 4), f(k, 4)] for k in (3, 0, 100)],
    "for_rows": [[f(k, 4)] for k in (3, 0, 20)],
    "for_insert_rows": [[f(k, 4)] for k in (3, 0, 20)],
    "nested_for": [[f(3, 4)], [f(2, 0)]],
    "while_dyn": [[np.abs(f(3))], [np.abs(f(50))]],
    "while_growing_i": [[f(3, 4), n(k, "int32")] for k in (3, 0)],
    "if_dyn": [[f(3), n(True, "bool")], [f(7), n(False, "bool")], [f(0), n(True, "bool")]],
    "if_size": [[f(3)], [f(7)], [f(0)]],
    "cf_br": [[f(5), n(True, "bool")], [f(5), n(False, "bool")]],
    "two_functions": [[f(3)], [f(100)]],
    "stride_computed": [[f(4)], [f(9)], [f(20)]],
    "stride_insert": [[f(8), f(4)], [f(20), f(4)]],
    "stride_insert_dyn": [[f(8, 9), f(3, 3)], [f(20, 20), f(4, 0)]],
    "neg_dim_select": [[f(5, 4)], [f(1, 4)]],
    "body_if": [[f(k), f(k) > 0] for k in (9, 0)],
    "body_for_extract": [[f(9, 4)], [f(0, 3)], [f(3, 0)]],
    "body_while": [[i(9)], [i(1)]],
    "pack_dyn": [[f(3, 5)], [f(16, 8)]],
    "unpack_dyn": [[f(2, 2, 8, 4), f(13, 7)]],
    "expand_two": [[f(12), f(3, 4)], [f(0), f(0, 4)]],
    "collapse_dyn": [[f(2, 4, 3)], [f(0, 4, 3)]],
    "reshape_op": [[f(3, 4)], [f(0, 4)]],
    "reshape_i64": [[f(3, 6)], [f(0, 6)]],
    "reshape_static": [[f(3, 2)], [f(1, 6)]],
    "pad_computed": [[f(3)], [f(0)]],
    "generate": [[f(3)], [f(0)]],
    "splat_insert_extract": [[f(3), n(2, "int32")], [f(9), n(0, "int32")]],
    "reversed_map": [[f(8), f(3)], [f(8), f(8)]],
    "mod_map": [[f(8), f(30)]],
    "conv_dyn_hw": [[f(1, 3, 8, 9), f(4, 3, 3, 3), f(4)]],
    "argmax_dyn": [[f(3, 7)], [f(5, 100)], [f(1, 1)]],
    "iota_index": [[i(5, dtype="int64")]],
    "rank_bitcast": [[f(3)]],
    "cast_refine": [[f(2, 4)]],
    "gather_dyn": [[f(5, 3), np.array([[4], [0], [2]])]],
    "scatter_dyn": [[f(5), ENTRIES, f(4)], [f(0), ENTRIES[:0], f(4)]],
    "scan_dyn": [[f(k), n(0, "float32")] for k in (5, 1, 3000)],
    "scan_excl_2d": [[i(3, 9), i(3)], [i(3, 1), i(3)], [i(2, 0), i(2)]],
    "sort_dyn": [[f(k)] for k in (5, 0, 1, 2, 1000)],
    "sort_2d_pairs": [[f(7, 3), i(7, 3)]],
    "topk_dyn": [[f(3, 9)], [f(3, 4)]],
}


@cache
def program(device_name: str) -> rt.Program:
    return rt.loads(write_bundle(bundle_for(TEXT, device_name))).bind(device(device_name))


@cache
def module() -> ModuleOp:
    return read_module(TEXT, "test.mlir", make_context())


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", CALLS)
def test_programs_of_dynamic_shape_are_right(name: str, device_name: str) -> None:
    for inputs in CALLS[name]:
        called = program(device_name).call(name, *inputs)
        results = list(called) if isinstance(called, tuple) else [called]
        for got, want in zip(results, evaluate(module(), name, list(inputs)), strict=True):
            assert_close(got, want.reshape(got.shape), f"{name} of {[v.shape for v in inputs]}")


def test_every_program_is_called() -> None:
    functions = [op for op in module().ops if isinstance(op, func.FuncOp)]
    public = {op.sym_name.data for op in functions if op.sym_visibility is None}
    assert public == set(CALLS)


LOOP = """func.func @f(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = {control} -> (tensor<?xf32>) {{
    %a = tensor.concat dim(0) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }} {otherwise}
  return %r : tensor<?xf32>
}}
"""


@pytest.mark.parametrize(
    ("control", "otherwise", "message"),
    [
        (
            "scf.for %i = %c0 to %n step %c1 iter_args(%h = %x)",
            "",
            "a loop must carry tensors of one size, but its body changes it in dimension 0",
        ),
        (
            "scf.if %c",
            "else { scf.yield %x : tensor<?xf32> }",
            "the branches of an scf.if must give tensors of one size, but differ in dimension 0",
        ),
    ],
)
def test_control_flow_that_changes_a_size_is_refused(
    control: str, otherwise: str, message: str
) -> None:
    text = LOOP.format(control=control, otherwise=otherwise)
    text = text.replace("  %r =", "  %c = tensor.extract %p[] : tensor<i1>\n  %r =")
    loaded = rt.loads(write_bundle(bundle_for(text, "host"))).bind(device("host"))
    with pytest.raises(rt.ArgumentError, match=message):
        loaded.call("f", f(3), n(True, "bool"))


def test_sizes_that_do_not_fit_a_reshape_are_refused() -> None:
    with pytest.raises(rt.ArgumentError, match="split into sizes whose product is not its size"):
        program("host").call("expand_two", f(12), f(3, 5))


def test_tensors_that_do_not_fit_together_are_not_concatenated() -> None:
    text = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %a = tensor.concat dim(0) %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      return %a : tensor<?x?xf32>
    }"""
    loaded = rt.loads(write_bundle(bundle_for(text, "host"))).bind(device("host"))
    assert loaded.call("f", f(2, 3), f(1, 3)).shape == (3, 3)
    with pytest.raises(rt.ArgumentError, match="must have one size in dimension 1"):
        loaded.call("f", f(2, 3), f(1, 4))
