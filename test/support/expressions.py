"""Every class of expression in index notation, for tests of gradients.

The kinds of Tullio's own gradient tests, and more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from support.harness import Array

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Expression:
    """A program in index notation, and where its arguments lie."""

    notation: str
    arguments: Mapping[str, Shape | Array]
    """Shapes of the floats, and the values of the indices, which come last."""
    low: float = 0.5
    high: float = 1.5
    rtol: float = 2e-5
    slow: bool = False
    """Of a kind that another one stands for: for the sweep only."""

    @property
    def text(self) -> str:
        """The program."""
        declared: list[str] = []
        for name, value in self.arguments.items():
            shape = value if isinstance(value, tuple) else value.shape
            element = "f32" if isinstance(value, tuple) else "i32"
            declared.append(f"{name}: {element}[{', '.join(map(str, shape))}]")
        return f"@arg {', '.join(declared)}\n{self.notation}"

    @property
    def floats(self) -> list[int]:
        """The positions of the arguments that gradients are by."""
        return [i for i, v in enumerate(self.arguments.values()) if isinstance(v, tuple)]

    def inputs(self, seed: int = 7) -> list[Array]:
        """Random floats, and the indices."""
        rng = np.random.default_rng(seed)
        return [
            rng.uniform(self.low, self.high, v).astype(np.float32) if isinstance(v, tuple) else v
            for v in self.arguments.values()
        ]


def of_x(notation: str, x: Shape, **more: object) -> Expression:
    """An expression of x."""
    return Expression(notation, {"x": x}, **more)  # type: ignore[arg-type]


def of_xy(notation: str, x: Shape, y: Shape, **more: object) -> Expression:
    """An expression of x and y."""
    return Expression(notation, {"x": x, "y": y}, **more)  # type: ignore[arg-type]


FEW = np.array([1, 3, 3, 2, 3], np.int32)
HOLES = np.array([7, 2, 2, 1, 7], np.int32)
MANY = np.random.default_rng(0).integers(1, 11, 1024).astype(np.int32)

EXPRESSIONS: dict[str, Expression] = {
    "2x_i": of_x("z[i] := 2x[i]", (5,)),
    "2x_i + i": of_x("z[i] := 2x[i] + i", (5,)),
    "x_i + 1000x_j": of_x("z[i,j] := x[i] + 1000x[j]", (3,)),
    "x_i + 1000x_j, length 100": of_x("z[i,j] := x[i] + 1000x[j]", (100,), rtol=1e-4),
    "exp(x_i) / x_j": of_x("z := exp(x[i]) / x[j]", (4,)),
    "x_ij + y_ji": of_xy("z[i] := x[i,j] + y[j,i]", (3, 4), (4, 3), slow=True),
    "log(x_ij) / y_ji": of_xy("z[i] := log(x[i,j]) / y[j,i]", (3, 4), (4, 3)),
    "2x_ik y_kj": of_xy("z[i,j] := 2x[i,k] * y[k,j]", (3, 4), (4, 5), slow=True),
    "abs(1 + x_i^2)": of_x("z[i] := abs(1 + x[i]^2)", (4,)),
    "abs(1 + x_i^2)^2": of_x("z[i] := abs(1 + x[i]^2)^2", (4,), slow=True),
    "sum log x_i": of_x("z[] := log(x[i])", (4,)),
    # Gathers and scatters
    "gather 5 of 3": Expression("z[i] := x[k[i]]", {"x": (3,), "k": FEW}),
    "gather 1024 of 10": Expression("z[i] := x[k[i]]^2", {"x": (10,), "k": MANY}, rtol=1e-4),
    "gather of rows": Expression("z[i,c] := x[k[i],c] * i", {"x": (3, 4), "k": FEW}, slow=True),
    "scatter with repeats and holes": Expression(
        "@out s: f32[7]\ns[k[i]] := x[i]^2\nz[i] := s[i]^2", {"x": (5,), "k": HOLES}
    ),
    "gather and scatter": Expression(
        "@out s: f32[7]\ns[k[i]] := w[i] * x[k[i]]\nz[i] := s[i]^2",
        {"x": (7,), "w": (5,), "k": HOLES},
        slow=True,
    ),
    # Affine and other indices
    "convolution": Expression(
        "z[x,y,c] := N[x+i-1,y+j-1,c] * K[i,j]", {"N": (6, 7, 2), "K": (3, 3)}
    ),
    "convolution with mod": Expression(
        "z[x,y,c] := N[mod(x+i-2),mod(y+j-2),c] * abs(K[i,j]) (x in 1:6, y in 1:7)",
        {"N": (6, 7, 2), "K": (3, 3)},
    ),
    "convolution with pad": Expression(
        "z[x,y] := N[pad(x+i-2,1),pad(y+j-2,1)] * K[i,j] (x in 1:6, y in 1:7)",
        {"N": (6, 7), "K": (3, 3)},
        slow=True,
    ),
    "convolution with stride and dilation": of_xy("z[i] := x[2i+2j-2] * y[j]", (14,), (3,)),
    "nonlinear convolution": of_xy("z[i] := exp(x[i+j-1] * y[j]) * x[i+1]", (9,), (3,)),
    "full convolution": of_xy("z[i+j-1] := x[i] * y[j]", (5,), (3,), slow=True),
    "mod": of_x("z[i] := x[mod(i-3)] * i (i in 1:12)", (5,)),
    "mod of few, and twice": of_x("z[i] := x[mod(i+3),mod(2-i)]^2 (i in 1:3)", (5, 4), slow=True),
    "mod backwards": of_xy("z[i] := x[mod(2j-i)] * y[j] (i in 1:7)", (5,), (4,)),
    "mod without a loop by ones": of_x("z[i] := x[mod(2i)]^2 (i in 1:7)", (5,), slow=True),
    "clamp": of_x("z[i] := x[clamp(i-3)] * i (i in 1:12)", (5,)),
    "pad": of_x("z[i+_] := x[pad(i,3,4)] * i", (5,)),
    "reversed": of_x("z[i] := x[6-i] * x[i] (i in 1:5)", (5,)),
    "stride": of_x("z[i] := x[2i-1]^2", (7,), slow=True),
    "diagonal": of_x("z[i,i] := x[i]^2", (4,), slow=True),
    "choice": of_x("z[i] := x[i] > 1 ? x[i]^2 : sin(x[i])", (7,), slow=True),
    "update": of_x("x[i] += x[i]^2", (5,), slow=True),
    "x_iik": of_x("z[k] := x[i,i,k]", (3, 3, 4), slow=True),
    "x_iikjj": of_x("z[k] := x[i,i,k,j,j]", (3, 3, 4, 2, 2)),
    # Contractions
    "x_ik r_kj": of_xy("z[i,j] := x[i,k] * y[k,j]", (3, 4), (4, 2)),
    "x_ijk r_kmn": of_xy("z[i,j,m,n] := x[i,j,k] * y[k,m,n]", (1, 3, 4), (4, 2, 5)),
    "x_ijk r_kmn as nimj": of_xy(
        "z[n,i,m,j] := x[i,j,k] * y[k,m,n]", (2, 3, 4), (4, 2, 5), slow=True
    ),
    "x_ijk r_kmn as mnji": of_xy(
        "z[m,n,j,i] := x[i,j,k] * y[k,m,n]", (2, 3, 4), (4, 2, 5), slow=True
    ),
    "x_ijk r_kmn as jinm": of_xy("z[j,i,n,m] := x[i,j,k] * y[k,m,n]", (1, 3, 4), (4, 2, 5)),
    "x_iqk r_kmq": of_xy("z[i,m] := x[i,q,k] * y[k,m,q]", (3, 2, 4), (4, 5, 2)),
    "x_ikk r_kmkm": of_xy("z[i] := x[i,k,k] * y[k,m,k,m]", (3, 2, 2), (2, 4, 2, 4)),
    "x_ikkl r_lmqq": of_xy(
        "z[i,m] := x[i,k,k,l] * y[l,m,q,q]", (2, 3, 3, 4), (4, 2, 3, 3), slow=True
    ),
    "r_ik x_kj": of_xy("z[i,j] := y[i,k] * x[k,j]", (4, 2), (3, 4), slow=True),
    "r_ijk x_mkn": of_xy("z[i,j,m,n] := y[i,j,k] * x[m,k,n]", (2, 4, 3), (2, 3, 4)),
    "r_ssjk x_ttki": of_xy("z[i,j] := y[s,s,j,k] * x[t,t,k,i]", (2, 2, 4, 3), (3, 3, 2, 4)),
    "r_abjk x_bcki r_ac": Expression(
        "z[i,j] := r[a,b,j,k] * x[b,c,k,i] * q[a,c]",
        {"x": (3, 2, 4, 3), "r": (2, 3, 2, 4), "q": (2, 2)},
    ),
    "three factors to a scalar": Expression(
        "z := x[i,j] * r[j,k] * q[k,i]", {"x": (3, 4), "r": (4, 2), "q": (2, 3)}
    ),
    "three factors to a scalar, one twice": of_xy(
        "z := x[i,j] * y[j,k] * x[k,j]", (3, 4), (4, 3), slow=True
    ),
    "a form of three": Expression(
        "z := x[i] * y[i,j] * q[j]", {"x": (3,), "y": (3, 4), "q": (4,)}, slow=True
    ),
    # Finishers, products, chains
    "sqrt of a sum of squares": of_x("z[i] := x[i,j]^2 |> sqrt", (4, 5)),
    "tanh(W x)": of_xy("z[i,b] := x[i,j] * y[j,b] |> tanh", (4, 5), (5, 3), low=-0.8, high=0.8),
    "log-sum-exp": of_x(
        """(max) m[i] := x[i,j]
        z[i] := exp(x[i,j] - m[i]) |> log(_) + m[i]""",
        (4, 5),
    ),
    "log <| exp": of_x("z[i] := log <| exp(x[i,j])", (4, 5), slow=True),
    "softmax": of_x(
        """(max) m[i] := x[i,j]
        e[i,j] := exp(x[i,j] - m[i])
        s[i] := e[i,j]
        z[i,j] := e[i,j] / s[i]""",
        (3, 4),
        slow=True,
    ),
    "tanh(B_ia + C_kia)": Expression(
        "z[k,i,a] := tanh(B[i,a] + C[k,i,a])", {"B": (3, 4), "C": (2, 3, 4)}, slow=True
    ),
    "sum of tanh(B_ia + C_kia)": Expression(
        "z[i,a] := tanh(B[i,a] + C[k,i,a])", {"B": (3, 4), "C": (2, 3, 4)}, slow=True
    ),
    "product over rows": of_x("(*) z[i] := x[i,j]", (4, 5)),
    "product over columns": of_x("(*) z[j] := x[i,j]", (4, 5), slow=True),
    "product over all": of_x("(*) z := x[i,j]", (3, 4), slow=True),
    "product of terms": of_xy("(*) z[j] := x[i,j] + y[i]^2", (4, 5), (4,)),
    "exp(x) / log(x)": of_x(
        "z[i,j] := exp(x[i,j]) / log(x[i,j])", (3, 4), low=1.5, high=4.0, slow=True
    ),
}


@dataclass(frozen=True)
class Terms:
    """What maxima and minima are of."""

    notation: str
    of: Callable[[Array, Array], Array]
    """The same in NumPy."""
    kept: tuple[str, ...]
    """Index lists to choose one from: what is left is over one, two or three dimensions, or all."""
    x: Shape
    y: Shape


TERMS: dict[str, Terms] = {
    "x_ij": Terms("x[i,j]", lambda x, y: x, ("i", "j", ""), (4, 5), ()),
    "x_ij + 0.01y_i": Terms(
        "x[i,j] + 0.01y[i]", lambda x, y: x + 0.01 * y[:, None], ("i", "j", ""), (4, 5), (4,)
    ),
    "x_ij + 0.01y_j": Terms(
        "x[i,j] + 0.01y[j]", lambda x, y: x + 0.01 * y, ("i", "j", ""), (4, 5), (5,)
    ),
    "x_ij^2/sqrt(y_i) + exp(y_j)": Terms(
        "x[i,j]^2 / sqrt(y[i]) + exp(y[j])",
        lambda x, y: x**2 / np.sqrt(y)[:, None] + np.exp(y),
        ("i", "j", ""),
        (5, 5),
        (5,),
    ),
    "log(x_ijkl)/y_j^(1/3)": Terms(
        "log(x[i,j,k,l]) / y[j]^(1/3)",
        lambda x, y: np.log(x) / np.cbrt(y)[:, None, None],
        ("i,j,k", "i,l", "i", "j", "l", ""),
        (2, 3, 2, 3),
        (3,),
    ),
}

SOON = {
    ("max", "x_ij", "i"),
    ("max", "x_ij + 0.01y_i", "i"),
    ("min", "x_ij + 0.01y_i", "j"),
    ("max", "x_ij + 0.01y_j", ""),
    ("min", "x_ij^2/sqrt(y_i) + exp(y_j)", "i"),
    ("max", "log(x_ijkl)/y_j^(1/3)", "i"),
    ("min", "log(x_ijkl)/y_j^(1/3)", "i,l"),
}
"""Those that every run of the tests has."""

EXTREMA: dict[tuple[str, str, str], Expression] = {
    (reducer, name, kept): Expression(
        f"({reducer}) z[{kept}] := {terms.notation}",
        {"x": terms.x, "y": terms.y} if terms.y else {"x": terms.x},
        slow=(reducer, name, kept) not in SOON,
    )
    for name, terms in TERMS.items()
    for kept in terms.kept
    for reducer in ("max", "min")
}
assert EXTREMA.keys() >= SOON

EXPRESSIONS |= {
    f"{reducer} of {name} for each {kept or 'program'}": expression
    for (reducer, name, kept), expression in EXTREMA.items()
}
