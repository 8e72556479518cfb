"""The kernel ops of arith, gpu and vector that xDSL lacks: text and verification."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.context import make_context

KERNEL = """
func.func @kernel(%a: f32, %i: i32, %v: vector<4xf32>,
                  %m: memref<4xf32, #gpu.address_space<workgroup>>)
    attributes {mapping = [#gpu.block<linear_dim_1>, #gpu.thread<x>]} {
  %t = gpu.thread_id x
  %b = gpu.block_id y
  %lane = gpu.lane_id
  %group = gpu.subgroup_id : index
  gpu.barrier
  %sum = gpu.all_reduce add %a uniform {} : (f32) -> (f32)
  %product = gpu.all_reduce %a {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    "gpu.yield"(%z) : (f32) -> ()
  } : (f32) -> (f32)
  %most = gpu.subgroup_reduce maximumf %a : (f32) -> f32
  %other, %valid = gpu.shuffle xor %a, %i, %i : f32
  %pair = vector.from_elements %a, %sum : vector<2xf32>
  %all = vector.splat %a : vector<4xf32>
  %one = vector.reduction <add>, %all, %a : vector<4xf32> into f32
  %less = arith.cmpf olt, %v, %all : vector<4xf32>
  %least = arith.select %less, %v, %all : vector<4xi1>, vector<4xf32>
  %narrow = arith.fptosi %least : vector<4xf32> to vector<4xi32>
  %rest = arith.remf %a, %one : f32
  %index = arith.index_castui %i : i32 to index
  func.return
}
"""


def test_text_survives_a_round_trip() -> None:
    module = Parser(make_context(), KERNEL).parse_module()
    module.verify()
    again = Parser(make_context(), str(module)).parse_module()
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("%r = vector.from_elements %a : vector<2xf32>", "expected 2 elements, got 1"),
        ("%r = gpu.all_reduce %a {} : (f32) -> f32", "either a kind of reduction or a body"),
        (
            "%c = arith.constant dense<true> : vector<2xi1>\n"
            '%r = "arith.select"(%c, %v, %v) : (vector<2xi1>, vector<4xf32>, vector<4xf32>)'
            " -> vector<4xf32>",
            "have the shape of the result",
        ),
    ],
)
def test_nonsense_is_refused(op: str, message: str) -> None:
    text = f"func.func @f(%a: f32, %v: vector<4xf32>) {{\n{op}\nfunc.return\n}}"
    module = Parser(make_context(), text).parse_module()
    with pytest.raises(VerifyException, match=message):
        module.verify()
