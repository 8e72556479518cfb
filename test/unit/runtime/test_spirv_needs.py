"""What a SPIR-V module asks of a Vulkan device is read from its header."""

from struct import pack

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions, MathMode
from ingot.runtime.devices.vulkan.spirv import ModuleNeeds, module_needs

_PROGRAM = """
!t = tensor<8xTYPE>
func.func @double(%x: !t) -> !t {
  %e = tensor.empty() : !t
  %r = linalg.add ins(%x, %x : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}
"""


def needs_of(type_: str, math: MathMode = "safe") -> tuple[ModuleNeeds, tuple[str, ...]]:
    options = CompileOptions(targets=("vulkan:generic",), math=math)
    program = _PROGRAM.replace("TYPE", type_)
    (variant,) = compile_module(program, "double.mlir", options).variants
    (kernel,) = variant.kernels
    return module_needs(kernel.spirv, kernel.name), variant.required_features


def test_kernels_on_floats_need_their_special_values() -> None:
    needs, features = needs_of("f32")
    assert needs.special_values == (32,)
    assert "special-values32" in features
    assert needs.missing_features(frozenset()) == ["special-values32"]
    assert needs.missing_features(frozenset(features)) == []


def test_kernels_on_integers_do_not() -> None:
    needs, features = needs_of("i32")
    assert needs.special_values == ()
    assert not [name for name in features if name.startswith("special-values")]


def test_fast_math_does_not() -> None:
    needs, features = needs_of("f32", math="fast")
    assert needs.special_values == ()
    assert "special-values32" not in features


def test_unknown_capabilities_are_missing() -> None:
    words = [0x07230203, 0x10300, 0, 1, 0, 2 << 16 | 17, 9999]
    needs = module_needs(pack(f"<{len(words)}I", *words), "k")
    assert needs.missing_features(frozenset()) == ["SPIR-V capability 9999"]
