"""How the dimensions of the values in a kernel follow from the loops that it shares."""

from xdsl.dialects.func import FuncOp, ReturnOp

from ingot.compiler.analysis.shared_loops import Dims, shared_dims
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module


def relations(first: str, second: str, out: str = "d0, d1") -> list[Dims]:
    """Of two sums of one tensor, by the maps that they read it with, the results' dimensions."""
    sums = "".join(
        f"""
        %{name} = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> ({read})>,
            affine_map<(d0, d1, d2) -> ({write})>],
            iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%x : tensor<3x5x3xf32>) outs(%f : tensor<3x3xf32>) {{
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        }} -> tensor<3x3xf32>"""
        for name, read, write in (("p", first, "d0, d1"), ("q", second, out))
    )
    text = f"""
      func.func @main(%x: tensor<3x5x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {{
        %z = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<3x3xf32>
        %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
        {sums}
        return %p, %q : tensor<3x3xf32>, tensor<3x3xf32>
      }}"""
    function = read_module(text, "sums.mlir", make_context()).body.block.first_op
    assert isinstance(function, FuncOp)
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    known = shared_dims(list(function.body.block.ops), end.operands[0], 2)
    return [known[value] for value in end.operands]


def test_loops_follow_what_is_read_alike() -> None:
    assert relations("d0, d2, d1", "d0, d2, d1") == [(0, 1), (0, 1)]


def test_a_transposed_result_follows_its_reads() -> None:
    assert relations("d0, d2, d1", "d0, d2, d1", out="d1, d0") == [(0, 1), (1, 0)]


def test_reads_across_each_other_do_not_join_two_loops() -> None:
    assert relations("d2, d1 * 2, d0", "d2, d0 * 2, d1") == [(0, 1), (0, 1)]
