"""The one table of linalg's named ops: their loops, their maps and their scalar bodies.

A map is written as upstream's definitions read: `n, oh*sh+kh*dh, ow*sw+kw*dw, c` names loops
(`n`, `oh`, `kh`), strides (`sh`: the stride of spatial dimension `h`) and dilations (`dh`). Loops
that the output's map does not name are reductions. An op without loops works on any rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ingot.compiler.dialects.linalg.bodies import Emit

Body = Callable[[Emit, Sequence[SSAValue], bool], None]
"""Emits the body over its block arguments; the flag says whether integers are cast as unsigned."""


@dataclass(frozen=True)
class NamedOpSpec:
    """One named op.

    `loops` are the names of the loops in order, `maps` one expression list for each operand, the
    output last; both are empty for ops that follow the rank of their output. `spatial` are the
    letters of the spatial dimensions, which give strides and dilations their order.
    """

    name: str
    body: Body
    num_inputs: int
    loops: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    spatial: str = ""
    scalar_inputs: bool = False

    @property
    def elementwise(self) -> bool:
        """Whether the op works on any rank, all loops parallel."""
        return not self.maps

    @property
    def strided(self) -> bool:
        """Whether the op has strides and dilations."""
        return any("*" in text for text in self.maps)


def _mac(e: Emit, args: Sequence[SSAValue], unsigned: bool) -> None:
    a, b, acc = args
    e.end(e.add(acc, e.mul(e.cast(a, acc.type, unsigned), e.cast(b, acc.type, unsigned))))


def _quantized_mac(e: Emit, args: Sequence[SSAValue], unsigned: bool) -> None:
    a, b, a_zero, b_zero, acc = args
    lhs = e.sub(e.cast(a, acc.type, unsigned), e.cast(a_zero, acc.type, unsigned))
    rhs = e.sub(e.cast(b, acc.type, unsigned), e.cast(b_zero, acc.type, unsigned))
    e.end(e.add(acc, e.mul(lhs, rhs)))


def _pool(combine: Callable[[Emit, SSAValue, SSAValue], SSAValue], unsigned: bool = False) -> Body:
    def body(e: Emit, args: Sequence[SSAValue], _: bool) -> None:
        value, _window, acc = args
        e.end(combine(e, acc, e.cast(value, acc.type, unsigned)))

    return body


def _unary(compute: Callable[[Emit, SSAValue], SSAValue]) -> Body:
    return lambda e, args, _: e.end(compute(e, args[0]))


def _binary(compute: Callable[[Emit, SSAValue, SSAValue], SSAValue]) -> Body:
    return lambda e, args, _: e.end(compute(e, args[0], args[1]))


def _copy(e: Emit, args: Sequence[SSAValue], unsigned: bool) -> None:
    e.end(e.cast(args[0], args[1].type, unsigned))


UNARY: dict[str, Callable[[Emit, SSAValue], SSAValue]] = {
    "exp": lambda e, x: e.math("ExpOp", x),
    "log": lambda e, x: e.math("LogOp", x),
    "abs": lambda e, x: e.math("AbsFOp", x),
    "ceil": lambda e, x: e.math("CeilOp", x),
    "floor": lambda e, x: e.math("FloorOp", x),
    "negf": lambda e, x: e.negf(x),
    "reciprocal": lambda e, x: e.div(e.constant(1.0, x.type), x),
    "round": lambda e, x: e.math("RoundOp", x),
    "sqrt": lambda e, x: e.math("SqrtOp", x),
    "rsqrt": lambda e, x: e.math("RsqrtOp", x),
    "square": lambda e, x: e.mul(x, x),
    "tanh": lambda e, x: e.math("TanhOp", x),
    "erf": lambda e, x: e.math("ErfOp", x),
}
"""Elementwise functions of one operand, by the names of ops and of `linalg.elementwise`'s kinds."""

BINARY: dict[str, Callable[[Emit, SSAValue, SSAValue], SSAValue]] = {
    "add": Emit.add,
    "sub": Emit.sub,
    "mul": Emit.mul,
    "div": Emit.div,
    "div_unsigned": Emit.div_unsigned,
    "max": Emit.max,
    "min": Emit.min,
    "max_signed": Emit.max,
    "min_signed": Emit.min,
    "max_unsigned": Emit.max_unsigned,
    "min_unsigned": Emit.min_unsigned,
    "powf": lambda e, a, b: e.math("PowFOp", a, b),
}
"""Elementwise functions of two operands, by the names of ops and `linalg.elementwise`'s kinds."""


def _elementwise() -> list[NamedOpSpec]:
    kinds_only = ("max_signed", "min_signed", "max_unsigned", "min_unsigned")
    return [
        *(NamedOpSpec(f"linalg.{name}", _unary(f), 1) for name, f in UNARY.items()),
        *(
            NamedOpSpec(f"linalg.{name}", _binary(f), 2)
            for name, f in BINARY.items()
            if name not in kinds_only
        ),
        NamedOpSpec("linalg.select", lambda e, args, _: e.end(e.select(*args[:3])), 3),
        NamedOpSpec("linalg.copy", _copy, 1),
        NamedOpSpec("linalg.fill", _copy, 1, scalar_inputs=True),
    ]


def _contraction(name: str, loops: str, *maps: str) -> NamedOpSpec:
    quantized = len(maps) == 5
    body = _quantized_mac if quantized else _mac
    return NamedOpSpec(f"linalg.{name}", body, len(maps) - 1, tuple(loops.split()), maps)


def _contractions() -> list[NamedOpSpec]:
    c = _contraction
    return [
        c("matmul", "m n k", "m, k", "k, n", "m, n"),
        c("matmul_transpose_a", "m n k", "k, m", "k, n", "m, n"),
        c("matmul_transpose_b", "m n k", "m, k", "n, k", "m, n"),
        c("quantized_matmul", "m n k", "m, k", "k, n", "", "", "m, n"),
        c("batch_matmul", "b m n k", "b, m, k", "b, k, n", "b, m, n"),
        c("batch_matmul_transpose_a", "b m n k", "b, k, m", "b, k, n", "b, m, n"),
        c("batch_matmul_transpose_b", "b m n k", "b, m, k", "b, n, k", "b, m, n"),
        c("quantized_batch_matmul", "b m n k", "b, m, k", "b, k, n", "", "", "b, m, n"),
        c("batch_reduce_matmul", "b m n k", "b, m, k", "b, k, n", "m, n"),
        c("matvec", "m n", "m, n", "n", "m"),
        c("vecmat", "n m", "m", "m, n", "n"),
        c("batch_matvec", "b m k", "b, m, k", "b, k", "b, m"),
        c("batch_vecmat", "b n k", "b, k", "b, k, n", "b, n"),
        c("dot", "m", "m", "m", ""),
        c("mmt4d", "m n k m0 n0 k0", "m, k, m0, k0", "n, k, n0, k0", "m, n, m0, n0"),
        c("batch_mmt4d", "b m n k m0 n0 k0",
          "b, m, k, m0, k0", "b, n, k, n0, k0", "b, m, n, m0, n0"),
    ]  # fmt: skip


def _window(letter: str) -> str:
    return f"o{letter}*s{letter}+k{letter}*d{letter}"


def _layout(layout: str, spatial: Callable[[str], str]) -> list[str]:
    return [spatial(letter) if letter in "dhw" else letter for letter in layout]


def _convolution(
    name: str, image: str, kernel: str, out: str, quantized: bool = False
) -> NamedOpSpec:
    """A convolution from its layouts: `nhwc`, `hwcf`, `nhwf`; `m` is the channel multiplier."""
    letters = "".join(letter for letter in image if letter in "dhw")
    out_loops = _layout(out, lambda letter: f"o{letter}")
    kernel_loops = _layout(kernel, lambda letter: f"k{letter}")
    loops = (*out_loops, *(loop for loop in kernel_loops if loop not in out_loops))
    zero_points = ("", "") if quantized else ()
    maps = (
        ", ".join(_layout(image, _window)),
        ", ".join(kernel_loops),
        *zero_points,
        ", ".join(out_loops),
    )
    body = _quantized_mac if quantized else _mac
    suffix = "_q" if quantized else ""
    return NamedOpSpec(f"linalg.{name}{suffix}", body, 4 if quantized else 2, loops, maps, letters)


def _convolutions() -> list[NamedOpSpec]:
    layouts = [
        ("conv_1d_nwc_wcf", "nwc", "wcf", "nwf"),
        ("conv_1d_ncw_fcw", "ncw", "fcw", "nfw"),
        ("conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwf"),
        ("conv_2d_nhwc_fhwc", "nhwc", "fhwc", "nhwf"),
        ("conv_2d_nchw_fchw", "nchw", "fchw", "nfhw"),
        ("conv_2d_ngchw_fgchw", "ngchw", "fgchw", "ngfhw"),
        ("conv_2d_ngchw_gfchw", "ngchw", "gfchw", "ngfhw"),
        ("conv_2d_nhwgc_gfhwc", "nhwgc", "gfhwc", "nhwgf"),
        ("conv_3d_ndhwc_dhwcf", "ndhwc", "dhwcf", "ndhwf"),
        ("conv_3d_ncdhw_fcdhw", "ncdhw", "fcdhw", "nfdhw"),
        ("depthwise_conv_1d_nwc_wc", "nwc", "wc", "nwc"),
        ("depthwise_conv_1d_ncw_cw", "ncw", "cw", "ncw"),
        ("depthwise_conv_1d_nwc_wcm", "nwc", "wcm", "nwcm"),
        ("depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwc"),
        ("depthwise_conv_2d_nchw_chw", "nchw", "chw", "nchw"),
        ("depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcm"),
        ("depthwise_conv_3d_ndhwc_dhwc", "ndhwc", "dhwc", "ndhwc"),
        ("depthwise_conv_3d_ncdhw_cdhw", "ncdhw", "cdhw", "ncdhw"),
        ("depthwise_conv_3d_ndhwc_dhwcm", "ndhwc", "dhwcm", "ndhwcm"),
    ]
    quantized = (
        "conv_2d_nhwc_hwcf",
        "conv_2d_nhwc_fhwc",
        "conv_2d_nchw_fchw",
        "conv_2d_ngchw_gfchw",
        "conv_2d_nhwgc_gfhwc",
        "conv_3d_ndhwc_dhwcf",
        "depthwise_conv_2d_nhwc_hwc",
        "depthwise_conv_2d_nhwc_hwcm",
    )
    plain = [
        _contraction("conv_1d", "ow kw", "ow+kw", "kw", "ow"),
        _contraction("conv_2d", "oh ow kh kw", "oh+kh, ow+kw", "kh, kw", "oh, ow"),
        _contraction(
            "conv_3d", "od oh ow kd kh kw", "od+kd, oh+kh, ow+kw", "kd, kh, kw", "od, oh, ow"
        ),
    ]
    return [
        *plain,
        *(_convolution(*layout) for layout in layouts),
        *(_convolution(*layout, quantized=True) for layout in layouts if layout[0] in quantized),
    ]


def _poolings() -> list[NamedOpSpec]:
    combiners: dict[str, Body] = {
        "sum": _pool(Emit.add),
        "max": _pool(Emit.max),
        "min": _pool(Emit.min),
        "max_unsigned": _pool(Emit.max_unsigned, unsigned=True),
        "min_unsigned": _pool(Emit.min_unsigned, unsigned=True),
    }
    kinds = {
        "nwc": ("sum", "max", "max_unsigned", "min", "min_unsigned"),
        "ncw": ("sum", "max"),
        "nhwc": ("sum", "max", "max_unsigned", "min", "min_unsigned"),
        "nchw": ("sum", "max"),
        "ndhwc": ("sum", "max", "min"),
    }
    specs: list[NamedOpSpec] = []
    for layout, combinations in kinds.items():
        letters = "".join(letter for letter in layout if letter in "dhw")
        out_loops = _layout(layout, lambda letter: f"o{letter}")
        window = [f"k{letter}" for letter in letters]
        maps = (", ".join(_layout(layout, _window)), ", ".join(window), ", ".join(out_loops))
        loops = (*out_loops, *window)
        for kind in combinations:
            name = f"linalg.pooling_{layout}_{kind}"
            specs.append(NamedOpSpec(name, combiners[kind], 2, loops, maps, letters))
    return specs


NAMED_OPS: dict[str, NamedOpSpec] = {
    spec.name: spec for spec in (*_elementwise(), *_contractions(), *_convolutions(), *_poolings())
}
"""Every named op that the table defines, by its full name."""
