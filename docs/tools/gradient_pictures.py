"""Draw the pictures of docs/gradients.md: a kernel, and its gradient turned round.

python docs/tools/gradient_pictures.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[1] / "pictures"

CELL = 34
INK, FADED, READ, MADE = "#24292f", "#8c959f", "#ddf4ff", "#fff8c5"


def text(x: float, y: float, words: str, size: int = 13, anchor: str = "middle") -> str:
    """A line of text, centred at its height."""
    return (
        f'<text x="{x:g}" y="{y + size * 0.36:g}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{INK}">{words}</text>'
    )


def cells(x: float, y: float, names: Sequence[str], marked: Sequence[int], fill: str) -> str:
    """A vector whose cells `marked` are filled."""
    parts: list[str] = []
    for i, name in enumerate(names):
        color = fill if i in marked else "#ffffff"
        parts.append(
            f'<rect x="{x + i * CELL:g}" y="{y:g}" width="{CELL}" height="{CELL}" '
            f'fill="{color}" stroke="{FADED}"/>'
        )
        parts.append(text(x + (i + 0.5) * CELL, y + CELL / 2, name))
    return "".join(parts)


def arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    """An arrow from one point to another."""
    return (
        f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{INK}" '
        'stroke-width="1.4" marker-end="url(#head)"/>'
    )


def page(width: int, height: int, parts: Iterator[str]) -> str:
    """A whole picture."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="ui-monospace, monospace">\n'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="{INK}"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def blur() -> Iterator[str]:
    """y[i] = sum over k of x[i + k] * w[k]: forwards, as a scatter, and as a gather."""
    xs, ys = [f"x{i}" for i in range(8)], [f"y{i}" for i in range(6)]
    dxs, dys = [f"dx{i}" for i in range(8)], [f"dy{i}" for i in range(6)]
    left, lower = 20, 118
    yield text(left, 22, "forwards: y3 reads x3, x4, x5", anchor="start")
    yield cells(left, 40, xs, (3, 4, 5), READ)
    yield cells(left + CELL, lower, ys, (3,), MADE)
    for k in range(3):
        yield arrow(
            left + (3 + k + 0.5) * CELL, 40 + CELL, left + (4.5 + (k - 1) * 0.2) * CELL, lower
        )
    left = 350
    yield text(left, 22, "by iterations: y3, y4 and y5 add to x5", anchor="start")
    yield cells(left + CELL, lower, dys, (3, 4, 5), READ)
    yield cells(left, 40, dxs, (5,), MADE)
    for i in (3, 4, 5):
        for k in range(3):
            start = left + (i + 1.5) * CELL
            end = left + (i + k + 0.5 + (i - 4) * 0.15) * CELL
            yield arrow(start, lower, end, 40 + CELL)
    yield text(left + 4 * CELL, lower + CELL + 20, "several threads, one element: a race")
    left = 680
    padded = ["0", "0", *dys, "0", "0"]
    yield text(left, 22, "turned round: dx5 gathers", anchor="start")
    yield cells(left, lower, padded, (5, 6, 7), READ)
    yield cells(left + CELL, 40, dxs, (5,), MADE)
    for k in range(3):
        start = left + (5 + k + 0.5) * CELL
        yield arrow(start, lower, left + (6.5 + (k - 1) * 0.2) * CELL, 40 + CELL)
    yield text(left + 5 * CELL, lower + CELL + 20, "one thread for each dx, in a fixed order")


def matrix(x: float, y: float, rows: int, columns: int, name: str, fill: str) -> str:
    """A matrix of `rows` by `columns` units, with its name."""
    unit = 15
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{columns * unit}" height="{rows * unit}" '
        f'fill="{fill}" stroke="{INK}"/>' + text(x + columns * unit / 2, y + rows * unit / 2, name)
    )


def product() -> Iterator[str]:
    """C = A B and its two gradients, each a product of the same kind."""
    m, k, n = 4, 5, 7
    a, b, c = ("A", m, k, READ), ("B", k, n, READ), ("dC", m, n, READ)
    at, bt = ("A&#7488;", k, m, READ), ("B&#7488;", n, k, READ)
    rows = (
        ("C[i,k] = sum over j of A[i,j] B[j,k]", ("C", m, n, MADE), a, b),
        ("dA[i,j] = sum over k of dC[i,k] B[j,k]", ("dA", m, k, MADE), c, bt),
        ("dB[j,k] = sum over i of A[i,j] dC[i,k]", ("dB", k, n, MADE), at, c),
    )
    for row, (title, *parts) in enumerate(rows):
        y = 20 + row * 125
        yield text(20, y + 50, title, anchor="start")
        x = 290.0
        for i, (name, height, width, fill) in enumerate(parts):
            yield matrix(x, y + (105 - height * 15) / 2, height, width, name, fill)
            x += width * 15 + 26
            if i < 2:
                yield text(x - 13, y + 52, "=·"[i], 16)


def main() -> None:
    """Write both pictures."""
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "gradient-of-blur.svg").write_text(page(1040, 200, blur()), encoding="utf-8")
    (PICTURES / "gradient-of-matmul.svg").write_text(page(650, 400, product()), encoding="utf-8")


if __name__ == "__main__":
    main()
