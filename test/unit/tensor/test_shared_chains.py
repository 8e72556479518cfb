"""Programs whose ops share their inputs again and again: no pass may walk every path."""

from __future__ import annotations

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.pass_pipeline import parse_pipeline, run_passes
from ingot.compiler.frontends.reader import read_module

OPS = 80
GENERIC = """
  %{i} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
      ins(%{a}, %{b} : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %l = math.log %x : f32
    %s = arith.addf %l, %y : f32
    linalg.yield %s : f32
  }} -> tensor<64xf32>"""


def test_fusion_of_ops_that_read_the_last_two_ends() -> None:
    ops = "".join(GENERIC.format(i=i, a=i - 1, b=i - 2) for i in range(2, OPS))
    text = f"""#id = affine_map<(d0) -> (d0)>
func.func @main(%0: tensor<64xf32>, %1: tensor<64xf32>) -> tensor<64xf32> {{
  %e = tensor.empty() : tensor<64xf32>{ops}
  return %{OPS - 1} : tensor<64xf32>
}}"""
    context = make_context()
    module = read_module(text, "chain.mlir", context)
    run_passes(module, context, parse_pipeline("linalg-fuse-elementwise"))
    assert sum(op.name == "math.log" for op in module.walk()) == OPS - 2
