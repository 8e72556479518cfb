"""Structured control flow as other producers write it, and at its edges."""

from __future__ import annotations

import pytest
from unit.spirv.kernels import kernel
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Block

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects import spirv
from ingot.targets.spirv import assemble, deserialize, disassemble, serialize, validate

HEAD = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %true = OpConstantTrue %bool
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %type = OpTypeFunction %void
    %main = OpFunction %void None %type
    %entry = OpLabel
"""
TAIL = "\nOpReturn\nOpFunctionEnd"


def reread(body: str) -> tuple[spirv.ModuleOp, str]:
    """The module that is read from a function's assembly, and what is written for it."""
    binary = assemble(HEAD + body + TAIL)
    validate(binary)
    module = deserialize(binary)
    again = serialize(module)
    validate(again)
    assert serialize(deserialize(again)) == again
    return module, disassemble(again)


def only(module: spirv.ModuleOp, cls: type[spirv.StructuredOp]) -> spirv.StructuredOp:
    (found,) = (op for op in module.walk() if isinstance(op, cls))
    return found


def test_a_value_used_after_its_selection_becomes_a_result() -> None:
    module, text = reread("""
        OpSelectionMerge %merge None
        OpBranchConditional %true %then %merge
        %then = OpLabel
        %sum = OpIAdd %uint %one %one
        OpBranch %merge
        %merge = OpLabel
        %phi = OpPhi %uint %zero %entry %sum %then
        %use = OpIAdd %uint %phi %one""")
    selection = only(module, spirv.SelectionOp)
    assert [result.type for result in selection.results] == [i32]
    assert text.count("OpPhi") == 1


def test_a_loop_s_counter_can_be_used_after_it() -> None:
    module, _ = reread("""
        OpBranch %header
        %header = OpLabel
        %i = OpPhi %uint %zero %entry %next %continue
        OpLoopMerge %merge %continue None
        OpBranchConditional %true %body %merge
        %body = OpLabel
        OpBranch %continue
        %continue = OpLabel
        %next = OpIAdd %uint %i %one
        OpBranch %header
        %merge = OpLabel
        %use = OpIAdd %uint %i %one""")
    loop = only(module, spirv.LoopOp)
    assert isinstance(loop, spirv.LoopOp)
    assert len(loop.results) == 1
    assert len(loop.header.args) == 1


def test_a_continue_block_before_the_body_moves_to_its_place() -> None:
    module, _ = reread("""
        OpBranch %header
        %header = OpLabel
        OpLoopMerge %merge %continue Unroll
        OpBranchConditional %true %continue %body
        %continue = OpLabel
        OpBranch %header
        %body = OpLabel
        OpBranch %merge
        %merge = OpLabel""")
    loop = only(module, spirv.LoopOp)
    assert isinstance(loop, spirv.LoopOp)
    assert loop.loop_control.data is spirv.LoopControl.Unroll
    assert loop.continue_block.last_op is not None
    assert loop.header in loop.continue_block.last_op.successors


def test_a_loop_of_one_block_stays_one() -> None:
    _, text = reread("""
        OpBranch %header
        %header = OpLabel
        OpLoopMerge %merge %header None
        OpBranchConditional %true %header %merge
        %merge = OpLabel""")
    assert text.count("OpLabel") == 3


def test_a_condition_with_control_flow_gets_a_block_after_the_header() -> None:
    module, text = reread("""
        OpBranch %header
        %header = OpLabel
        OpLoopMerge %merge %continue None
        OpBranch %condition
        %condition = OpLabel
        OpSelectionMerge %decided None
        OpBranchConditional %true %then %decided
        %then = OpLabel
        OpBranch %decided
        %decided = OpLabel
        %more = OpPhi %bool %true %condition %true %then
        OpBranchConditional %more %body %merge
        %body = OpLabel
        OpBranch %continue
        %continue = OpLabel
        OpBranch %header
        %merge = OpLabel""")
    assert only(module, spirv.SelectionOp).results[0].type == i1
    assert text.count("OpLoopMerge") == 1


def test_a_header_that_nests_a_selection_is_split() -> None:
    def body(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        condition = b.insert(spirv.ConstantOp(True, i1))
        entry, header, merge = Block(), Block(), Block([spirv.MergeOp()])
        entry.add_op(spirv.BranchOp(header))
        inner = Builder(InsertPoint.at_end(header))
        inner.insert(spirv.SelectionOp.if_then_else(condition, Block()))
        inner.insert(spirv.BranchConditionalOp(condition, header, merge))
        b.insert(spirv.LoopOp([entry, header, merge]))

    module = kernel(body)
    module.verify()
    binary = serialize(module)
    validate(binary)
    assert serialize(deserialize(binary)) == binary


def test_a_variable_inside_a_loop_goes_to_the_start_of_its_function() -> None:
    def body(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        condition = b.insert(spirv.ConstantOp(True, i1))
        then = Block()
        inner = Builder(InsertPoint.at_end(then))
        variable = inner.insert(spirv.VariableOp(f32))
        inner.insert(spirv.StoreOp(variable, inner.insert(spirv.ConstantOp(1.0, f32))))
        b.insert(spirv.SelectionOp.if_then_else(condition, then))

    binary = serialize(kernel(body))
    validate(binary)
    lines = [line for line in disassemble(binary).splitlines() if "Function" in line]
    text = disassemble(binary)
    assert text.index("OpVariable %_ptr_Function_float") < text.index("OpSelectionMerge"), lines


def test_an_initializer_that_would_run_once_only_is_refused() -> None:
    def body(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        condition = b.insert(spirv.ConstantOp(True, i1))
        then = Block()
        inner = Builder(InsertPoint.at_end(then))
        inner.insert(spirv.VariableOp(f32, inner.insert(spirv.ConstantOp(1.0, f32))))
        b.insert(spirv.SelectionOp.if_then_else(condition, then))

    with pytest.raises(Refusal, match="must stand in the function's first block"):
        serialize(kernel(body))


def test_constants_are_written_once_wherever_they_stand() -> None:
    def body(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        for _ in range(3):
            one = b.insert(spirv.ConstantOp(1, i32))
            b.insert(spirv.IAddOp(one, one))

    text = disassemble(serialize(kernel(body)))
    assert text.count("OpConstant ") == 1


def test_an_integer_constant_has_one_bit_pattern_whatever_its_sign() -> None:
    def body(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        one, other = (b.insert(spirv.ConstantOp(value, i32)) for value in (-1, 0xFFFFFFFF))
        b.insert(spirv.IAddOp(one, other))

    text = disassemble(serialize(kernel(body)), friendly_names=False)
    assert text.count("OpConstant ") == 1
    assert "4294967295" in text
