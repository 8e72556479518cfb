"""The schema file, the layout in Python and `flatc` agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ingot.targets.bundle import layout as fb
from ingot.targets.bundle import model as m
from ingot.targets.bundle.writer import write_bundle

SCHEMA = Path(__file__).parents[3] / "targets" / "bundle" / "ingot.fbs"
SCALARS = {"bool": "?", "uint16": "H", "uint32": "I", "uint64": "Q", "int64": "q"}
ENUMS = {
    "DType": m.DType,
    "BufferKind": m.BufferKind,
    "Access": m.Access,
    "Operation": m.Operation,
}
STRUCTS = {
    "Extent": fb.EXTENT,
    "Grid": fb.GRID,
    "BufferRef": fb.BUFFER_REF,
    "Operand": fb.OPERAND,
}


def schema_text() -> str:
    return re.sub(r"//.*", "", SCHEMA.read_text())


def kind_of(spelling: str, unions: set[str], aligned: bool) -> fb.FieldKind:
    """What the layout should have for a type as the schema spells it."""
    if spelling.startswith("["):
        inner = spelling[1:-1]
        of = fb.U8 if inner == "ubyte" else kind_of(inner, unions, False)
        assert isinstance(of, fb.Scalar | fb.Inline | fb.String | fb.Child)
        return fb.Vector(of, alignment=4 if aligned else 0)
    if spelling in SCALARS:
        return fb.Scalar(SCALARS[spelling])
    if spelling in ENUMS:
        return fb.U8
    if spelling == "string":
        return fb.String()
    return STRUCTS.get(spelling, fb.Child(union=spelling in unions))


def test_layout_is_the_schema() -> None:
    text = schema_text()
    unions = set(re.findall(r"union (\w+)", text))
    tables: dict[str, dict[str, fb.FieldKind]] = {}
    for name, body in re.findall(r"table (\w+) \{(.*?)\}", text, re.S):
        fields = re.findall(r"(\w+):([\w\[\]]+)\s*(\([^)]*\))?;", body)
        tables[name] = {
            field: kind_of(spelling, unions, "force_align" in attributes)
            for field, spelling, attributes in fields
        }
    assert {table.name: table.fields for table in fb.TABLES} == tables
    for table in fb.TABLES:
        assert list(table.fields) == list(tables[table.name])


def test_enums_are_the_schema() -> None:
    for name, kind in ENUMS.items():
        members = re.search(rf"enum {name} : ubyte \{{(.*?)\}}", schema_text(), re.S)
        assert members is not None
        spelled = [member.strip() for member in members[1].split(",")]
        assert [s.lower() for s in spelled] == [k.name.lower().replace("_", "") for k in kind]


@pytest.mark.skipif(shutil.which("flatc") is None, reason="flatc is not installed")
def test_flatc_decodes_what_is_written(sample: m.Bundle, tmp_path: Path) -> None:
    (tmp_path / "sample.ingot").write_bytes(write_bundle(sample))
    command = ["flatc", "--json", "--strict-json", "-o", ".", str(SCHEMA), "--", "sample.ingot"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    decoded = json.loads((tmp_path / "sample.json").read_text())
    assert [f["name"] for f in decoded["functions"]] == ["main", "nothing", "sized"]
    steps = decoded["variants"][0]["bodies"][0]["steps"]
    kinds = [step["command_type"] for step in steps]
    assert kinds[:5] == ["Fill", "Barrier", "Dispatch", "Barrier", "Copy"]
    assert kinds[5:] == ["Load", "If", "While", "Store"]
    assert steps[2]["command"]["bindings"][1] == {
        "offset": {"value": 64, "kind": "Immediate"},
        "length": {"value": 16, "kind": "Immediate"},
        "index": 0,
        "kind": "Transient",
    }
    assert decoded["variants"][0]["kernels"][0]["msl"].endswith("é")
