"""The Swift package, as far as it can be checked without Swift: files, syntax, names of C."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
EMBED = ROOT / "runtime" / "embed"
MANIFEST = ROOT / "Package.swift"
SOURCES = sorted((EMBED / "swift").rglob("*.swift"))
PLUGIN = ROOT / "integrations" / "xcode" / "plugin.swift"


def test_the_manifest_names_what_is_there() -> None:
    text = MANIFEST.read_text()
    for path in re.findall(r'path: "([^"]+)"', text):
        assert (ROOT / path).is_dir(), path
    listed = re.search(r"exclude: \[([^]]*)\],\s*sources: \[([^]]*)\]", text)
    assert listed is not None
    excluded, sources = (set(re.findall(r'"([^"]+)"', names)) for names in listed.groups())
    assert sources == {path.name for path in EMBED.glob("*.c")}
    folders = {path.name for path in EMBED.iterdir() if path.is_dir()}
    assert excluded == folders - {"include"}


@pytest.mark.parametrize("path", [MANIFEST, PLUGIN, *SOURCES], ids=lambda path: path.name)
def test_the_syntax_is_that_of_swift(path: Path) -> None:
    tree_sitter = pytest.importorskip("tree_sitter")
    swift = pytest.importorskip("tree_sitter_swift")
    parser = tree_sitter.Parser(tree_sitter.Language(swift.language()))
    tree = parser.parse(path.read_bytes())

    def wrong(node: Any) -> list[str]:
        if node.is_error or node.is_missing:
            return [f"{path.name}:{node.start_point[0] + 1}: {node.text.decode()[:60]}"]
        return [found for child in node.children for found in wrong(child)]

    assert wrong(tree.root_node) == []


def test_names_of_c_are_in_its_headers() -> None:
    headers = [EMBED / "include" / "ingot.h", EMBED / "metal" / "include" / "ingot_metal.h"]
    known = set(re.findall(r"\b(?:ingot|INGOT)_\w+", "".join(p.read_text() for p in headers)))
    for path in SOURCES:
        used = set(re.findall(r"\bingot_\w+", path.read_text()))
        assert used <= known, path.name


def test_element_types_are_numbered_as_in_c() -> None:
    header = (EMBED / "include" / "ingot.h").read_text()
    listed = re.search(r"enum ingot_dtype \{([^}]*)\}", header)
    assert listed is not None
    swift = (EMBED / "swift" / "Ingot" / "Tensor.swift").read_text()
    cases = re.search(r"case i1 = 0\n\s*case ([^\n]*)", swift)
    assert cases is not None
    expected = [name.strip().removeprefix("INGOT_").lower() for name in listed[1].split(",")]
    assert ["i1", *cases[1].split(", ")] == expected
