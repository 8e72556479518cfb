"""Which ops are recognized as attention, and how attention is tiled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects.func import FuncOp

from ingot.compiler.analysis.attention import Attention
from ingot.compiler.analysis.attention_kernels import (
    attention_kernels,
    find_attention,
    find_products,
)
from ingot.compiler.analysis.attention_schedule import (
    AttentionShape,
    attention_schedule,
    attention_tiles,
)
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.targets.profiles import PROFILES, TargetProfile

ROWS = "affine_map<(b, q, k) -> (b, q)>"
WHOLE = "affine_map<(b, q, k) -> (b, q, k)>"
PARALLEL = '"parallel", "parallel", "parallel"'
REDUCED = '"parallel", "parallel", "reduction"'
LOOPS = '"parallel", "parallel", "parallel", "reduction"'


def program(
    logit: str = "%l = arith.mulf %s, %half : f32",
    weight: str = "%w = arith.divf %e, %t : f32",
    total: str = "arith.addf",
    returned: str = "%o",
) -> str:
    """Attention of 2 x 8 queries over 16 keys, at the level of generics."""
    columns = 6 if returned == "%o" else 16
    return f"""
func.func @f(%q: tensor<2x8x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x6xf32>)
    -> tensor<?x?x?xf32> {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %none = arith.constant 0xFF800000 : f32
  %big = tensor.empty() : tensor<2x8x16xf32>
  %row = tensor.empty() : tensor<2x8xf32>
  %out = tensor.empty() : tensor<2x8x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%big : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %row0 = linalg.fill ins(%zero : f32) outs(%row : tensor<2x8xf32>) -> tensor<2x8xf32>
  %rowm = linalg.fill ins(%none : f32) outs(%row : tensor<2x8xf32>) -> tensor<2x8xf32>
  %out0 = linalg.fill ins(%zero : f32) outs(%out : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %scores = linalg.generic {{indexing_maps = [affine_map<(b, q, k, d) -> (b, q, d)>,
      affine_map<(b, q, k, d) -> (b, k, d)>, affine_map<(b, q, k, d)
      -> (b, q, k)>], iterator_types = [{LOOPS}]}} ins(%q,
      %k : tensor<2x8x4xf32>, tensor<2x16x4xf32>) outs(%zeros : tensor<2x8x16xf32>) {{
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %acc, %p : f32
    linalg.yield %n : f32
  }} -> tensor<2x8x16xf32>
  %logits = linalg.generic {{indexing_maps = [{WHOLE}, {WHOLE}],
      iterator_types = [{PARALLEL}]}} ins(%scores : tensor<2x8x16xf32>)
      outs(%big : tensor<2x8x16xf32>) {{
  ^bb0(%s: f32, %acc: f32):
    {logit}
    linalg.yield %l : f32
  }} -> tensor<2x8x16xf32>
  %most = linalg.generic {{indexing_maps = [{WHOLE}, {ROWS}], iterator_types = [{REDUCED}]}}
      ins(%logits : tensor<2x8x16xf32>) outs(%rowm : tensor<2x8xf32>) {{
  ^bb0(%s: f32, %acc: f32):
    %n = arith.maximumf %acc, %s : f32
    linalg.yield %n : f32
  }} -> tensor<2x8xf32>
  %exps = linalg.generic {{indexing_maps = [{WHOLE}, {ROWS}, {WHOLE}],
      iterator_types = [{PARALLEL}]}} ins(%logits,
      %most : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%big : tensor<2x8x16xf32>) {{
  ^bb0(%s: f32, %m: f32, %acc: f32):
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }} -> tensor<2x8x16xf32>
  %total = linalg.generic {{indexing_maps = [{WHOLE}, {ROWS}], iterator_types = [{REDUCED}]}}
      ins(%exps : tensor<2x8x16xf32>) outs(%row0 : tensor<2x8xf32>) {{
  ^bb0(%s: f32, %acc: f32):
    %n = {total} %acc, %s : f32
    linalg.yield %n : f32
  }} -> tensor<2x8xf32>
  %weights = linalg.generic {{indexing_maps = [{WHOLE}, {ROWS}, {WHOLE}],
      iterator_types = [{PARALLEL}]}} ins(%exps,
      %total : tensor<2x8x16xf32>, tensor<2x8xf32>) outs(%big : tensor<2x8x16xf32>) {{
  ^bb0(%e: f32, %t: f32, %acc: f32):
    {weight}
    linalg.yield %w : f32
  }} -> tensor<2x8x16xf32>
  %o = linalg.generic {{indexing_maps = [affine_map<(b, q, d, k) -> (b, q, k)>,
      affine_map<(b, q, d, k) -> (b, k, d)>, affine_map<(b, q, d, k)
      -> (b, q, d)>], iterator_types = [{LOOPS}]}} ins(%weights,
      %v : tensor<2x8x16xf32>, tensor<2x16x6xf32>) outs(%out0 : tensor<2x8x6xf32>) {{
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.addf %acc, %p : f32
    linalg.yield %n : f32
  }} -> tensor<2x8x6xf32>
  %r = tensor.cast {returned} : tensor<2x8x{columns}xf32> to tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}}
"""


def attentions(text: str) -> tuple[list[Attention], list[int]]:
    """What is found in the function, and how many ops each kernel of it has."""
    module = read_module(text, "test.mlir", make_context())
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    block = function.body.block
    return find_attention(block), [len(ops) for ops in attention_kernels(block)]


def test_every_part_is_found() -> None:
    ((found,), kernels) = attentions(program())
    assert kernels == [7]
    assert found.query == 0
    assert found.weights == 0
    assert (found.batch_loops, found.row_loops) == ((0,), (1,))
    assert (found.value_loop, found.key_loop) == (2, 3)
    assert found.score_loops == (0, 1, 3, None)
    assert [step.kind for step in found.steps] == ["div"]
    assert [s.exponentials for s in found.sums] == [True]
    assert found.reference is None
    assert found.base == "math.exp"


def test_weights_may_be_scaled_by_a_reciprocal_or_set_to_zero() -> None:
    text = program(
        weight="""%c = arith.cmpf oeq, %t, %zero : f32
    %i = arith.divf %half, %t : f32
    %y = arith.mulf %i, %e : f32
    %w = arith.select %c, %zero, %y : f32"""
    )
    ((found,), _) = attentions(text)
    assert [step.kind for step in found.steps] == ["mul", "zero_where"]


@pytest.mark.parametrize(
    "changes",
    [
        {"weight": "%w = arith.addf %e, %t : f32"},
        {"weight": "%y = arith.mulf %e, %e : f32\n    %w = arith.divf %y, %t : f32"},
        {"total": "arith.maximumf"},
        {"returned": "%weights"},
        {"returned": "%scores"},
    ],
    ids=["added", "squared", "the sum is none", "weights are returned", "scores are returned"],
)
def test_what_cannot_be_computed_key_by_key_is_left_alone(changes: dict[str, str]) -> None:
    assert attentions(program(**changes)) == ([], [])


def test_two_small_products_in_a_row_are_one_kernel() -> None:
    text = program().replace("ins(%weights", "ins(%logits")
    (function,) = read_module(text, "test.mlir", make_context()).ops
    assert isinstance(function, FuncOp)
    block = function.body.block
    dead = [op for op in block.ops if op.results and op.results[0].name_hint in DEAD]
    for op in reversed(dead):
        op.detach()
        op.erase()
    assert find_attention(block) == []
    ((ops,), (pair,)) = attention_kernels(block), find_products(block)
    assert len(ops) == 3
    assert pair.maximum is None
    assert pair.work == 2 * 2 * 8 * 16 * (4 + 6)
    assert attention_kernels(block, merge_products=False) == []


DEAD = ("most", "exps", "total", "weights")

SHAPE = AttentionShape(
    dims=(8, 256, 64), row_dim=1, value_dim=2, keys=256, head=64, staged_bytes=512
)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.name)
@pytest.mark.parametrize("head", [16, 64, 128])
@pytest.mark.parametrize("rows", [1, 10, 256, 5000])
def test_tiles_fit_every_profile(profile: TargetProfile, head: int, rows: int) -> None:
    shape = replace(SHAPE, dims=(8, rows, head), head=head, staged_bytes=8 * head)
    schedule = attention_schedule(shape, profile)
    assert schedule.threads <= profile.max_threads_per_threadgroup
    assert schedule.reduction * shape.staged_bytes <= profile.threadgroup_memory
    assert schedule.threadgroup[1] == schedule.threads // schedule.splits * schedule.rows
    if profile.simd_width:
        assert profile.simd_width % schedule.splits == 0


def test_a_cpu_has_threads_of_many_rows_and_a_gpu_has_rows_of_many_threads() -> None:
    cpu = attention_tiles(SHAPE, PROFILES["vulkan:lavapipe"])
    gpu = attention_tiles(SHAPE, PROFILES["metal:apple7"])
    assert (cpu.thread_rows, cpu.splits) == (8, 1)
    assert (gpu.thread_rows, gpu.splits) == (1, 8)
