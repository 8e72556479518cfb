"""The reference pages have everything that the code defines."""

from __future__ import annotations

import re

import pytest
from reference import commands, dialects, passes, schema, targets
from reference.passes import lit_test
from reference.text import docstring, prose, table

from ingot.compiler.dialects.context import DIALECTS, make_context
from ingot.compiler.driver.registry import LEVELS, ingot_passes
from ingot.targets.bundle import model
from ingot.targets.profiles import PROFILES
from ingot.tools.main import COMMANDS


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_has_all_its_ops_and_attributes(name: str) -> None:
    context = make_context()
    context.load_registered_dialect(name)
    found = context.get_dialect(name)
    page = dialects.page(name)
    for op in found.operations:
        if op not in dialects.HIDDEN:
            assert f"`{op.name}`" in page
    for attribute in found.attributes:
        if attribute not in dialects.HIDDEN:
            assert f"{attribute.name}`" in page
    assert f"({name}.md)" in dialects.overview(".").replace("./", "")


def test_an_op_shows_what_it_is_made_of() -> None:
    page = dialects.page("ingot")
    section = page[page.index("### `ingot.scan`") : page.index("### `ingot.scatter`")]
    assert "Running combination along one dimension." in section
    assert "| operand | `init` | tensor |" in section
    assert "| attribute | `inclusive` | unit, optional |" in section
    assert "| result | `last` | tensor |" in section


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_has_all_its_passes(level: str) -> None:
    page = passes.page(level)
    overview = passes.overview("passes")
    for name, where in ingot_passes().items():
        if where == level:
            assert f"## `{name}`" in page
            assert f"test/passes/{level}/{name}.mlir" in page or not lit_test(name, level).exists()
            assert f"passes/{level}.md#{name}" in overview


def test_a_pass_has_its_options() -> None:
    assert "| `max-operands` | `int` | `24` |" in passes.page("dispatch")


def test_the_schema_is_complete() -> None:
    text = schema.reference()
    declared = re.findall(r"^(table|struct|enum|union) (\w+)", schema.schema(), re.M)
    assert len(declared) == len(schema.declarations()) > 20
    for kind, name in declared:
        assert f"### {kind} `{name}`" in text
    uncommented = re.sub(r"//.*", "", schema.schema())
    for field in re.findall(r"(\w+):\[?\w+\]?", uncommented):
        assert f"`{field}`" in text
    for name in ("Bundle", "Variant", "Kernel"):
        assert hasattr(model, name)


def test_every_target_and_command_appears() -> None:
    for name in PROFILES:
        assert f"`{name}`" in targets.overview()
    text = commands.reference()
    for name in COMMANDS:
        assert f"## `ingot {name}`" in text
    assert "`-o`, `--output` `FILE`" in text


def test_docstrings_become_markdown() -> None:
    doc = """Turn a<b> into *b* but not `a<b>`.

        one

        two
    becomes
        three
    """
    assert docstring(doc) == (
        "Turn a\\<b\\> into \\*b\\* but not `a<b>`.\n\n"
        "```mlir\none\n\ntwo\n```\n\nbecomes\n\n```mlir\nthree\n```\n"
    )
    assert prose("x_i [1] `y_i`") == "x\\_i \\[1\\] `y_i`"
    assert table(("a",), [("b|c `d|e`",)]) == "| a |\n| --- |\n| b\\|c `d|e` |\n"
    assert docstring("So:\n\n    br ^a\n  ^a:\nend") == (
        "So:\n\n```mlir\n  br ^a\n^a:\n```\n\nend\n"
    )
