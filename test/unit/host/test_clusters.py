"""Which bindings of a kernel share bytes."""

from ingot.runtime.devices.host.binding import Binding, clusters


def grouped(*ranges: tuple[int, int]) -> list[list[str]]:
    """Names by group; a range is an address and a size."""
    bindings = [Binding("abcd"[i], *range_, True) for i, range_ in enumerate(ranges)]
    return [[binding.name for binding in group] for group in clusters(bindings)]


def test_neighbours_share_nothing() -> None:
    assert grouped((64, 64), (0, 64)) == [["b"], ["a"]]


def test_chains_are_one_group() -> None:
    assert grouped((0, 64), (32, 64), (90, 64)) == [["a", "b", "c"]]


def test_an_empty_binding_parts_nobody() -> None:
    assert grouped((0, 100), (50, 0), (60, 60)) == [["a", "c"], ["b"]]
    assert grouped((0, 0), (0, 8)) == [["a"], ["b"]]
