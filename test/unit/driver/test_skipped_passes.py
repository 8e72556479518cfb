"""A pass that the driver does not load for a module would not have changed it."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.parser import Parser

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.contents import Contents
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import module_text, parse_pipeline, passes_with_work
from ingot.compiler.driver.pipelines import STAGES
from ingot.compiler.driver.registry import has_work
from ingot.targets.profiles import PROFILES

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_skipped_passes_change_nothing(path: Path) -> None:
    context = make_context()
    module = Parser(context, path.read_text(), str(path)).parse_module()
    skipped = 0
    options = CompileOptions(("vulkan:generic",))
    for each in parse_pipeline(STAGES[0].pipeline(options, PROFILES["vulkan:generic"])):
        if has_work(each.name, Contents(module)):
            each.apply(context, module)
            continue
        before = module_text(module)
        each.apply(context, module)
        assert module_text(module) == before, f"{each.name} had work"
        skipped += 1
    assert skipped


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("%0 = arith.constant 1.0 : f64", "demote-f64"),
        ("%0 = tensor.empty() : tensor<4xcomplex<f32>>", "expand-complex"),
        ("%0 = arith.constant 1 : i4", "unpack-int4"),
        ("func.func private @f(tensor<4x?xf32>)", None),
        (
            "%n = arith.constant 4 : index\n%0 = tensor.empty(%n) : tensor<?xf32>",
            "outline-dynamic-shapes",
        ),
        ("%0 = tensor.empty() : tensor<4xf32>", None),
    ],
)
def test_types_decide(text: str, runs: str | None) -> None:
    module = Parser(make_context(), text).parse_module()
    passes = "demote-f64,unpack-int4,expand-complex,outline-dynamic-shapes"
    names = [p.name for p in passes_with_work(passes, module)]
    assert names == ([runs] if runs else [])
