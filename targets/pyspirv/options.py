"""Compiler options, set by enumeration or by name."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_void_p

from .context import Context
from .enums import Option
from .errors import InvalidArgument


class Options:
    """The options of one compiler; `Compiler.install` makes them count."""

    def __init__(self, context: Context, handle: c_void_p) -> None:
        self.context = context
        self.handle = handle

    def set(self, option: Option | str, value: bool | int) -> None:
        """Set one option: `set(Option.MSL_VERSION, 30100)` or `set("msl_version", 30100)`.

        Raises `InvalidArgument` for a name that is unknown here, and for an option that this
        version of SPIRV-Cross or the chosen backend lacks.
        """
        if isinstance(option, str):
            try:
                option = Option[option.upper()]
            except KeyError:
                raise InvalidArgument(f"SPIRV-Cross has no option named {option!r}") from None
        # bool first: it is an int to isinstance.
        kind = "bool" if isinstance(value, bool) else "uint"
        self.context.check(
            f"spvc_compiler_options_set_{kind}", self.handle, int(option), int(value)
        )

    def update(self, values: Mapping[Option, bool | int] | Mapping[str, bool | int]) -> None:
        """Set several options."""
        for option, value in values.items():
            self.set(option, value)
