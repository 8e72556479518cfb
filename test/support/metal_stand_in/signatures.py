"""How PyObjC calls Objective-C: a selector's colons are underscores, every argument has a type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from threading import local
from typing import Any, Self, cast


class MetalRule(AssertionError):
    """What would end a process on a Mac: a call that Metal or PyObjC does not allow."""


def require(is_kept: object, rule: str) -> None:
    """Raise `MetalRule` unless a rule is kept."""
    if not is_kept:
        raise MetalRule(rule)


def _is_unsigned(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**64


def _is_struct(fields: int) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
        return len(items) == fields and all(map(_is_unsigned, items))

    return check


def _takes_one_argument(value: Any) -> bool:
    if not callable(value):
        return False
    parameters = inspect.signature(value).parameters.values()
    return len([p for p in parameters if p.default is p.empty]) == 1


def _is_list(*kinds: type) -> Callable[[Any], bool]:
    """Whether a value is of one of these kinds and holds objects only."""
    return lambda value: (
        isinstance(value, kinds)
        and all(isinstance(item, Selectors) for item in cast("list[object]", value))
    )


_IS_OF_TYPE: dict[str, Callable[[Any], bool]] = {
    "Q": _is_unsigned,
    # Bytes cross as `char`, with a sign, though Metal's have none.
    "z": lambda value: isinstance(value, int) and -128 <= value <= 127,
    "Z": lambda value: isinstance(value, bool),
    "NSRange": _is_struct(2),
    "MTLSize": _is_struct(3),
    "@": lambda value: value is None or isinstance(value, str | Selectors),
    "^v": lambda value: isinstance(value, bytes | memoryview),
    "o^@": lambda value: value is None,
    "block": _takes_one_argument,
    # A C array of objects is a sequence; its length is the next argument.
    "n^@": _is_list(list, tuple),
    "NSArray": _is_list(list),
    "o^Q": lambda value: value is None,
    "^@": lambda value: value is None,
    "SEL": lambda value: isinstance(value, str | bytes),
}


class Selectors:
    """An Objective-C object."""


class Descriptor(Selectors):
    """One that is made by `alloc` and `init`."""

    @classmethod
    def alloc(cls) -> Self:
        return cls()

    def init(self) -> Self:
        return self


_pools = local()


@contextmanager
def autorelease_pool() -> Generator[None]:
    """`objc.autorelease_pool`: owns what is returned to nobody, on this thread."""
    _pools.depth = getattr(_pools, "depth", 0) + 1
    try:
        yield
    finally:
        _pools.depth -= 1


def autoreleased(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that returns what a pool owns: without a pool it would stay for ever."""

    @wraps(method)
    def call(*arguments: Any) -> Any:
        require(getattr(_pools, "depth", 0), f"{method.__name__} without an autorelease pool")
        return method(*arguments)

    return call


def selector(*types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method whose arguments have these types; one that ends in an underscore per argument."""

    def typed(method: Callable[..., Any]) -> Callable[..., Any]:
        name = method.__name__
        assert name.count("_") == len(types), name

        @wraps(method)
        def call(self: Selectors, *arguments: Any) -> Any:
            require(
                len(arguments) == len(types),
                f"{name} takes {len(types)} arguments, got {len(arguments)}",
            )
            for position, (argument, kind) in enumerate(zip(arguments, types, strict=True)):
                require(
                    _IS_OF_TYPE[kind](argument),
                    f"argument {position} of {name} is no '{kind}': {argument!r}",
                )
            return method(self, *arguments)

        return call

    return typed
