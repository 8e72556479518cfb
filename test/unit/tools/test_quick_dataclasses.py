"""Dataclasses whose methods are compiled late behave as others do."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from ingot.tools import quick_dataclasses


@pytest.fixture
def late() -> Iterator[None]:
    """`dataclasses` as commands have it, for one test."""
    quick_dataclasses.install()
    yield
    del vars(dataclasses)["exec"]


@pytest.mark.usefixtures("late")
def test_methods_are_compiled_when_called() -> None:
    @dataclass
    class Point:
        x: int
        y: int = 0

    assert Point.__init__.__code__.co_filename.endswith("quick_dataclasses.py")
    assert Point(1) == Point(x=1, y=0)
    assert Point.__init__.__code__.co_filename == "<string>"
    assert Point.__init__.__qualname__.endswith("Point.__init__")
    assert repr(Point(1, 2)).endswith("Point(x=1, y=2)")


@pytest.mark.usefixtures("late")
def test_frozen_slots_order_and_factories() -> None:
    @dataclass(frozen=True, slots=True, order=True)
    class Range:
        low: int
        high: int = 9
        notes: list[str] = field(default_factory=list[str], compare=False)

    assert Range(1) < Range(1, 10)
    assert hash(Range(2)) == hash(Range(2, 9, ["a"]))
    assert Range(1).notes is not Range(1).notes
    with pytest.raises(dataclasses.FrozenInstanceError):
        Range(1).low = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="low"):
        Range()  # pyright: ignore[reportCallIssue]


@pytest.mark.usefixtures("late")
def test_a_subclass_runs_the_methods_of_its_base() -> None:
    @dataclass
    class Base:
        x: int

        def __post_init__(self) -> None:
            self.twice = 2 * self.x

    @dataclass(eq=False)
    class Derived(Base):
        def __init__(self, x: int) -> None:
            super().__init__(x)
            self.given = True

    first, second = Derived(3), Derived(3)
    assert (first.twice, first.given) == (6, True)
    assert Base.__init__.__code__.co_filename == "<string>"
    assert first == second


def test_python_executes_the_text_that_is_expected() -> None:
    """What `dataclasses` of this Python gives to `exec`."""
    seen: list[str] = []

    def spy(text: str, *arguments: dict[str, object]) -> None:
        seen.append(text)
        exec(text, *arguments)

    vars(dataclasses)["exec"] = spy
    try:
        dataclass(type("Empty", (), {}))
    finally:
        del vars(dataclasses)["exec"]
    assert seen
    assert all(text.startswith("def __create_fn__(") for text in seen), sys.version
