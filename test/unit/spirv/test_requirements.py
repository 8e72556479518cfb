"""Capabilities and extensions follow from use: enough for the validator, and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from unit.spirv.kernels import element_pointer, kernel
from xdsl.builder import Builder
from xdsl.dialects.builtin import f16, f32, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import Capability, required_vce
from ingot.targets.spirv import InvalidSpirv, serialize, validate

Globals = dict[str, spirv.GlobalVariableOp]


def on_element(
    element: Attribute, stride: int, use: Callable[[Builder, Operation], object]
) -> spirv.ModuleOp:
    """A kernel that loads one element, hands it to `use` and stores it again."""

    def body(b: Builder, variables: Globals) -> None:
        index = b.insert(spirv.ConstantOp(0, i32)).constant
        pointer = element_pointer(b, variables["x"], index)
        value = b.insert(spirv.LoadOp(pointer))
        use(b, value)
        b.insert(spirv.StoreOp(pointer, value))

    return kernel(body, [("x", element, stride)])


def nothing(b: Builder, value: Operation) -> None:
    pass


def convert(cls: type[spirv.CastOp], type: Attribute) -> Callable[[Builder, Operation], object]:
    return lambda b, value: b.insert(cls(value, type))


CASES: dict[str, tuple[spirv.ModuleOp, set[Capability], set[str]]] = {
    "f32": (on_element(f32, 4, nothing), set(), set()),
    "i8 stored": (
        on_element(i8, 1, nothing),
        {Capability.StorageBuffer8BitAccess},
        {"SPV_KHR_8bit_storage"},
    ),
    "i8 widened": (
        on_element(i8, 1, convert(spirv.SConvertOp, i32)),
        {Capability.StorageBuffer8BitAccess},
        {"SPV_KHR_8bit_storage"},
    ),
    "i8 added": (
        on_element(i8, 1, lambda b, v: b.insert(spirv.IAddOp(v, v))),
        {Capability.StorageBuffer8BitAccess, Capability.Int8},
        {"SPV_KHR_8bit_storage"},
    ),
    "i16 stored": (on_element(i16, 2, nothing), {Capability.StorageBuffer16BitAccess}, set()),
    "f16 widened": (
        on_element(f16, 2, convert(spirv.FConvertOp, f32)),
        {Capability.StorageBuffer16BitAccess},
        set(),
    ),
    "f16 compared": (
        on_element(f16, 2, lambda b, v: b.insert(spirv.FOrdLessThanOp(v, v))),
        {Capability.StorageBuffer16BitAccess, Capability.Float16},
        set(),
    ),
    "f16 in registers only": (
        on_element(f32, 4, convert(spirv.FConvertOp, f16)),
        {Capability.Float16},
        set(),
    ),
    "i64": (on_element(i64, 8, nothing), {Capability.Int64}, set()),
    "subgroup sum": (
        on_element(
            f32,
            4,
            lambda b, v: b.insert(
                spirv.GroupNonUniformFAddOp(spirv.Scope.Subgroup, spirv.GroupOperation.Reduce, v)
            ),
        ),
        {Capability.GroupNonUniformArithmetic},
        set(),
    ),
}


@pytest.mark.parametrize(("module", "capabilities", "extensions"), CASES.values(), ids=CASES)
def test_a_module_declares_what_it_uses(
    module: spirv.ModuleOp, capabilities: set[Capability], extensions: set[str]
) -> None:
    vce = required_vce(module)
    assert set(vce.capabilities) == {Capability.Shader, *capabilities}
    assert set(vce.extensions) == extensions
    validate(serialize(module))


@pytest.mark.parametrize("name", [name for name in CASES if len(CASES[name][1]) == 1])
def test_the_validator_misses_a_capability_that_is_left_out(name: str) -> None:
    module, (capability,), _ = CASES[name]
    binary = serialize(module)
    instruction = (17 | 2 << 16).to_bytes(4, "little") + int(capability).to_bytes(4, "little")
    assert binary.count(instruction) == 1
    with pytest.raises(InvalidSpirv):
        validate(binary.replace(instruction, b""))


def test_versions_before_1_3_need_the_storage_class_extension() -> None:
    module = on_element(f32, 4, nothing)
    assert required_vce(module, 0).extensions == ("SPV_KHR_storage_buffer_storage_class",)
    module.properties["vce_triple"] = required_vce(module, 0)
    validate(serialize(module), "vulkan1.0")


def test_float_controls_bring_their_capability() -> None:
    module = on_element(f32, 4, nothing)
    mode = spirv.ExecutionMode.SignedZeroInfNanPreserve
    module.body.block.add_op(spirv.ExecutionModeOp("main", mode, [32]))
    vce = required_vce(module)
    assert Capability.SignedZeroInfNanPreserve in vce.capabilities
    assert vce.extensions == ("SPV_KHR_float_controls",)
    validate(serialize(module))


def test_what_a_module_forgot_is_added_after_what_it_declares() -> None:
    module = on_element(i64, 8, nothing)
    module.properties["vce_triple"] = spirv.VersionCapabilitiesExtensionsAttr.get(
        4, [Capability.Shader, Capability.Int16], []
    )
    binary = serialize(module)
    order = [Capability.Shader, Capability.Int16, Capability.Int64]
    words = [int.from_bytes(binary[i : i + 4], "little") for i in range(0, len(binary), 4)]
    assert words[1] == 0x00010400
    assert words[6:11:2] == order
