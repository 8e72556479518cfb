"""Reading and running textual pipelines."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    PassFailure,
    PipelineError,
    flatten,
    parse_pipeline,
    pipeline_text,
    run_passes,
)
from ingot.compiler.driver.registry import UnknownPass
from ingot.compiler.driver.timing import Timing


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ("a,b{x=1}", "a,b{x=1}"),
        ("builtin.module(a,func.func(b{x=1 y=2}),c)", "a,b{x=1 y=2},c"),
        ("builtin.module( a , b )", "a,b"),
        ('any(a{t="metal:apple7"},b)', 'a{t="metal:apple7"},b'),
        ('a{t="x(y"}', 'a{t="x(y"}'),
        ("", ""),
    ],
)
def test_anchors_are_flattened(nested: str, flat: str) -> None:
    assert flatten(nested) == flat


def test_text_of_parsed_passes_parses_again() -> None:
    passes = parse_pipeline("builtin.module(canonicalize,func.func(cse))")
    assert pipeline_text(passes) == "canonicalize,cse"
    assert parse_pipeline(pipeline_text(passes)) == passes


@pytest.mark.parametrize(
    "text", ["cse{", "cse)", "builtin.module(cse", "canonicalize cse", "cse{nothing=1}"]
)
def test_what_cannot_be_read_is_said_in_one_sentence(text: str) -> None:
    with pytest.raises(PipelineError) as error:
        parse_pipeline(text)
    assert "\n" not in str(error.value)


def test_unknown_pass_offers_close_names() -> None:
    with pytest.raises(UnknownPass, match=r"`canonicalise`; did you mean `canonicalize`"):
        parse_pipeline("canonicalise")


class _Breaks(ModulePass):
    name = "breaks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("oops")


def test_a_pass_that_breaks_says_which_and_keeps_the_input() -> None:
    watch = Instrumentation(keep_before=True)
    with pytest.raises(PassFailure, match="pass `breaks` failed: KeyError") as failure:
        run_passes(ModuleOp([]), Context(), [_Breaks(), _Breaks()], watch)
    assert failure.value.pipeline == "breaks,breaks"
    assert "builtin.module" in failure.value.before


def test_timings_name_the_passes_in_order() -> None:
    timing = Timing()
    watch = Instrumentation(timing=timing)
    run_passes(ModuleOp([]), Context(), parse_pipeline("canonicalize,cse,canonicalize"), watch)
    names = [phase.name for phase in timing.root.phases]
    assert names == ["load passes", "canonicalize", "cse", "canonicalize"]
