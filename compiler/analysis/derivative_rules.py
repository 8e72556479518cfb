"""Derivatives of the scalar ops of `arith` and `math`, as data.

A rule gives, for each operand of an op, what the operand's cotangent gains: a formula in `g`, the
cotangent of the result, in which it is linear. Names in a formula:

- `a`, `b`, `c`: the operands; `r`: the result (of `math.sincos` `g1`, `g2`, `r1`, `r2`);
- `LN2`, `LN10`, `TWO_OVER_SQRT_PI`: constants;
- functions: those of `math` by their names (`exp`, `powf`), `where(condition, x, y)`,
  `cast(x)` to the type of the operand, `number(n)` of an integer as the type of `g`.

None stands for an operand that gets no gradient: an integer, a condition, or one on which the
result depends by steps only, so that the derivative is 0 wherever there is one (`floor`).

Where a function has no derivative, the rule takes a side: `absf` has 0 at 0, and of equal operands
of `maximumf`, `minimumf`, `maxnumf` and `minnumf` the first gets all. A NaN operand passes for the
chosen one, as it does in `maximumf`.
"""

from __future__ import annotations

import math

CONSTANTS: dict[str, float] = {
    "LN2": math.log(2.0),
    "LN10": math.log(10.0),
    "TWO_OVER_SQRT_PI": 2.0 / math.sqrt(math.pi),
}
"""What the upper-case names in formulas stand for."""

Rule = tuple[str | None, ...]
"""A formula for each operand."""

RULES: dict[str, Rule] = {
    "arith.addf": ("g", "g"),
    "arith.subf": ("g", "-g"),
    "arith.mulf": ("g * b", "g * a"),
    "arith.divf": ("g / b", "-(g / b) * r"),
    "arith.remf": ("g", "-g * trunc(a / b)"),
    "arith.negf": ("-g",),
    "arith.maximumf": ("where(a >= b, g, 0)", "where(a >= b, 0, g)"),
    "arith.minimumf": ("where(a <= b, g, 0)", "where(a <= b, 0, g)"),
    "arith.maxnumf": ("where(r == a, g, 0)", "where(r == a, 0, g)"),
    "arith.minnumf": ("where(r == a, g, 0)", "where(r == a, 0, g)"),
    "arith.select": (None, "where(a, g, 0)", "where(a, 0, g)"),
    "arith.extf": ("cast(g)",),
    "arith.truncf": ("cast(g)",),
    "math.absf": ("where(a > 0, g, where(a < 0, -g, 0))",),
    "math.acos": ("-g / sqrt((1 - a) * (1 + a))",),
    "math.acosh": ("g / (sqrt(a - 1) * sqrt(a + 1))",),
    "math.asin": ("g / sqrt((1 - a) * (1 + a))",),
    "math.asinh": ("g / sqrt(a * a + 1)",),
    "math.atan": ("g / (1 + a * a)",),
    "math.atan2": ("g * b / (a * a + b * b)", "-g * a / (a * a + b * b)"),
    "math.atanh": ("g / ((1 - a) * (1 + a))",),
    "math.cbrt": ("g / (3 * r * r)",),
    "math.ceil": (None,),
    "math.clampf": (
        "where(a >= b, where(a <= c, g, 0), 0)",
        "where(a >= b, 0, where(b <= c, g, 0))",
        "where(a <= c, where(b <= c, 0, g), g)",
    ),
    "math.copysign": ("g * copysign(1, a) * copysign(1, b)", None),
    "math.cos": ("-g * sin(a)",),
    "math.cosh": ("g * sinh(a)",),
    "math.erf": ("g * (TWO_OVER_SQRT_PI * exp(-a * a))",),
    "math.exp": ("g * r",),
    "math.exp2": ("g * (r * LN2)",),
    "math.expm1": ("g * (r + 1)",),
    "math.floor": (None,),
    "math.fma": ("g * b", "g * a", "g"),
    "math.fpowi": ("where(b == 0, 0, g * number(b) * fpowi(a, b - 1))", None),
    "math.log": ("g / a",),
    "math.log10": ("g / (a * LN10)",),
    "math.log1p": ("g / (1 + a)",),
    "math.log2": ("g / (a * LN2)",),
    "math.powf": (
        "where(b == 0, 0, g * (b * powf(a, b - 1)))",
        "g * (r * log(where(a == 0, 1, a)))",
    ),
    "math.round": (None,),
    "math.roundeven": (None,),
    "math.rsqrt": ("g * (-0.5 * r / a)",),
    "math.sin": ("g * cos(a)",),
    "math.sincos": ("g1 * r2 - g2 * r1",),
    "math.sinh": ("g * cosh(a)",),
    "math.sqrt": ("g * (0.5 / r)",),
    "math.tan": ("g * (1 + r * r)",),
    "math.tanh": ("g * ((1 - r) * (1 + r))",),
    "math.trunc": (None,),
}
"""The ops with a float among their results, but for the conversions from integers."""

WITHOUT_GRADIENT: frozenset[str] = frozenset(
    {
        "arith.constant",
        *(
            f"arith.{op}i"
            for op in ("add", "sub", "mul", "and", "or", "xor", "cmp", "shl", "trunc")
        ),
        *(f"arith.{op}" for op in ("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi")),
        *(f"arith.{op}" for op in ("remsi", "remui", "maxsi", "maxui", "minsi", "minui")),
        *(f"arith.{op}" for op in ("shrsi", "shrui", "extsi", "extui", "index_cast")),
        *(f"arith.{op}" for op in ("index_castui", "addui_extended", "mulsi_extended")),
        *(f"arith.{op}" for op in ("mului_extended", "cmpf", "fptosi", "fptoui", "sitofp")),
        *("arith.uitofp", "math.absi", "math.ctlz", "math.ctpop", "math.cttz", "math.ipowi"),
        *("math.isfinite", "math.isinf", "math.isnan", "math.isnormal"),
    }
)
"""Ops that take or make integers and booleans only: nothing flows back through them."""

REFUSED: dict[str, str] = {
    "arith.bitcast": "the bits of a float have no derivative",
}
"""Ops without a rule on the way of a gradient, and why."""
