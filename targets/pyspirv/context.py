"""The context, which owns every allocation, and the parsed module."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from ctypes import byref, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import abi
from .enums import Backend, CaptureMode, Result
from .errors import (
    ClosedError,
    InvalidArgument,
    InvalidSpirv,
    SpirvCrossError,
    UnsupportedSpirv,
)
from .library import Library, load

if TYPE_CHECKING:
    from .compiler import Compiler

_ERRORS: dict[int, type[SpirvCrossError]] = {
    Result.INVALID_SPIRV: InvalidSpirv,
    Result.UNSUPPORTED_SPIRV: UnsupportedSpirv,
    Result.INVALID_ARGUMENT: InvalidArgument,
}
_SPIRV_MAGIC = b"\x03\x02\x23\x07"


def _no_callback() -> Any:
    return abi.ErrorCallback()


def _destroy(library: Library, handle: c_void_p) -> None:
    # The callback may be half torn down when this runs at exit: detach it first.
    library.call("spvc_context_set_error_callback", handle, _no_callback(), None)
    library.call("spvc_context_destroy", handle)


class Context:
    """Owner of all memory of the modules, compilers and strings made from it.

    Use it as a context manager, or `close` it; a context that is dropped frees itself. Objects
    made from a context keep it alive, and raise `ClosedError` once it is closed. A context is not
    thread safe; different contexts are independent.
    """

    def __init__(
        self,
        library: Library | str | os.PathLike[str] | None = None,
        on_error: Callable[[str], None] | None = None,
    ) -> None:
        """Create a context in `library` (a path, a loaded one, or the first that is found).

        `on_error` hears every message of SPIRV-Cross when it is raised; the exception that follows
        carries it too. Raises `LibraryNotFound`.
        """
        self.library = library if isinstance(library, Library) else load(library)
        handle = c_void_p()
        if self.library.call("spvc_context_create", byref(handle)) != Result.SUCCESS:
            raise SpirvCrossError("SPIRV-Cross could not create a context")
        self._handle: c_void_p | None = handle
        self._callback: Any = None
        if on_error is not None:
            hear = on_error

            def forward(_: object, message: bytes | None) -> None:
                hear((message or b"").decode(errors="replace"))

            self._callback = abi.ErrorCallback(forward)
            self.library.call("spvc_context_set_error_callback", handle, self._callback, None)
        self._finalizer = weakref.finalize(self, _destroy, self.library, handle)

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free everything; may be called again."""
        self._handle = None
        self._finalizer()

    @property
    def handle(self) -> c_void_p:
        """The C handle. Raises `ClosedError` after `close`."""
        if self._handle is None:
            raise ClosedError("the SPIRV-Cross context of this object has been closed")
        return self._handle

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a C function that cannot fail, after checking that the context is open."""
        _ = self.handle
        return self.library.call(name, *arguments)

    def check(self, name: str, *arguments: Any) -> None:
        """Call a C function that returns a result; raise SPIRV-Cross's message when it fails."""
        result = self.call(name, *arguments)
        if result != Result.SUCCESS:
            raise self.error(result, name)

    def error(self, result: int, name: str) -> SpirvCrossError:
        """The exception for a failed call, with the last message of this context."""
        text = self.library.call("spvc_context_get_last_error_string", self.handle)
        message = text.decode(errors="replace").strip() if text else ""
        kind = _ERRORS.get(result, SpirvCrossError)
        return kind(message or f"{name} failed with result {result}")

    def parse(self, spirv: bytes) -> ParsedIR:
        """Parse a SPIR-V binary of either byte order.

        Raises `InvalidSpirv` for anything that is not a whole number of words of SPIR-V.
        """
        if len(spirv) % 4 or len(spirv) < 20:
            raise InvalidSpirv(f"{len(spirv)} bytes are not a SPIR-V module")
        if spirv[:4] not in (_SPIRV_MAGIC, _SPIRV_MAGIC[::-1]):
            raise InvalidSpirv(f"SPIR-V starts with 03 02 23 07, not with {spirv[:4].hex(' ')}")
        handle = c_void_p()
        self.check("spvc_context_parse_spirv", self.handle, spirv, len(spirv) // 4, byref(handle))
        return ParsedIR(self, handle)

    def compiler(self, spirv: bytes, backend: Backend = Backend.MSL) -> Compiler:
        """A compiler for one module: parse and take it in one step."""
        return self.parse(spirv).compiler(backend, CaptureMode.TAKE_OWNERSHIP)


class ParsedIR:
    """A parsed module, from which compilers are made."""

    def __init__(self, context: Context, handle: c_void_p) -> None:
        self.context = context
        self._handle: c_void_p | None = handle

    def compiler(
        self, backend: Backend = Backend.MSL, mode: CaptureMode = CaptureMode.COPY
    ) -> Compiler:
        """A compiler that writes `backend`'s language.

        With `CaptureMode.TAKE_OWNERSHIP` the module is consumed: faster, and only once. Raises
        `InvalidArgument` when it was consumed before.
        """
        from .compiler import Compiler

        if self._handle is None:
            raise InvalidArgument("this parsed module was given to a compiler already")
        handle = c_void_p()
        context = self.context
        context.check(
            "spvc_context_create_compiler",
            context.handle,
            int(backend),
            self._handle,
            int(mode),
            byref(handle),
        )
        if mode is CaptureMode.TAKE_OWNERSHIP:
            self._handle = None
        return Compiler(context, handle, backend)
