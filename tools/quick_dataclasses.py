"""Compile the methods of dataclasses when they are first called.

`@dataclass` writes the text of up to seven methods for each class and compiles it when the class is
defined. The compiler and xDSL have five hundred dataclasses, of whose methods a compilation calls a
tenth: to compile the others took a tenth of a small program's time. The methods that come of it are
the same; only `inspect.signature` sees that one was not called yet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

_HEAD = "def __create_fn__("
"""How the text begins that `dataclasses` executes: a function that defines and returns methods."""


def install() -> None:
    """Make `dataclasses` of this process compile late; doing it twice does no more.

    `dataclasses` executes what it wrote by `exec(text, globals, namespace)` and calls the
    `__create_fn__` that is in the namespace then (CPython 3.10 to 3.14).
    """
    setattr(dataclasses, "exec", _execute)  # noqa: B010


def _execute(text: str, globals: dict[str, Any], namespace: dict[str, Any]) -> None:
    """Stand for `exec`: leave in the namespace a `__create_fn__` that makes stand-ins."""
    returned = text.rpartition("\n return ")[2]
    is_tuple = returned.startswith("(")
    names = [name for name in returned.strip("()").split(",") if name]
    if not text.startswith(_HEAD) or not names:
        exec(text, globals, namespace)
        return

    def create(**values: object) -> object:
        methods = _Methods(text, globals, values, is_tuple)
        made = tuple(methods.stand_in(index, name) for index, name in enumerate(names))
        return made if is_tuple else made[0]

    namespace["__create_fn__"] = create


class _Methods:
    """The methods that one text defines, compiled together when one of them is called."""

    def __init__(
        self, text: str, globals: dict[str, Any], values: dict[str, object], is_tuple: bool
    ) -> None:
        self._source = text, globals, values, is_tuple
        self._compiled: tuple[Callable[..., Any], ...] = ()

    def compiled(self) -> tuple[Callable[..., Any], ...]:
        """The methods themselves."""
        if not self._compiled:
            text, globals, values, is_tuple = self._source
            namespace: dict[str, Any] = {}
            exec(text, globals, namespace)
            made = namespace["__create_fn__"](**values)
            self._compiled = made if is_tuple else (made,)
        return self._compiled

    def stand_in(self, index: int, name: str) -> Callable[..., Any]:
        """A method that, when it is called, gives its place in the class to the compiled one."""

        def method(self: object, /, *arguments: object, **named: object) -> Any:
            compiled = methods.compiled()[index]
            compiled.__qualname__ = method.__qualname__
            for cls in type(self).__mro__:
                if cls.__dict__.get(name) is method:
                    setattr(cls, name, compiled)
            return compiled(self, *arguments, **named)

        methods = self
        method.__name__ = method.__qualname__ = name
        return method
