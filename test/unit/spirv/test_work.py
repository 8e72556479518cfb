"""Counting the work of a kernel from its binary."""

from __future__ import annotations

from ingot.targets.spirv import assemble
from ingot.targets.spirv.work import kernel_work

KERNEL = """
OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%procedure = OpTypeFunction %void
%function = OpTypeFunction %v4 %v4
%puint = OpTypePointer Function %uint
%pv4 = OpTypePointer Function %v4
%u0 = OpConstant %uint 0
%u2 = OpConstant %uint 2
%u11 = OpConstant %uint 11
%one = OpConstant %float 1
%ones = OpConstantComposite %v4 %one %one %one %one
%square = OpFunction %v4 None %function
%x = OpFunctionParameter %v4
%f0 = OpLabel
%xx = OpFMul %v4 %x %x
OpReturnValue %xx
OpFunctionEnd
%main = OpFunction %void None %procedure
%entry = OpLabel
%i = OpVariable %puint Function
%sum = OpVariable %pv4 Function
%own = OpIMul %uint %u2 %u2
OpStore %i %START
OpStore %sum %ones
OpBranch %head
%head = OpLabel
%at = OpLoad %uint %i
%more = OpULessThan %bool %at %LIMIT
OpLoopMerge %end %next None
OpBranchConditional %more %body %end
%body = OpLabel
%old = OpLoad %v4 %sum
%called = OpFunctionCall %v4 %square %old
%fused = OpExtInst %v4 %glsl Fma %called %ones %ones
OpStore %sum %fused
OpBranch %next
%next = OpLabel
%was = OpLoad %uint %i
%now = OpIAdd %uint %was %u2
OpStore %i %now
OpBranch %head
%end = OpLabel
OpReturn
OpFunctionEnd
"""


def binary(limit, start="%u0"):
    return assemble(KERNEL.replace("%LIMIT", limit).replace("%START", start))


def test_loops_count_as_often_as_they_run_and_functions_where_they_are_called():
    work = kernel_work(binary("%u11"), "main", 32)
    # Six turns: a product of four, and a multiply-add of four that counts twice.
    assert work.flops == 6 * (4 + 8)
    assert work.is_bounded and not work.uses_matrix_units


def test_registers_are_what_is_alive_at_once_and_variables():
    # The variables have 5 words; beside them a vector, whose place the next may take.
    assert kernel_work(binary("%u11"), "main", 32).registers == 5 + 4


def test_a_loop_whose_end_is_not_known_is_not_bounded():
    assert not kernel_work(binary("%was"), "main", 32).is_bounded


def test_a_loop_whose_start_is_the_threads_own_counts_from_zero():
    work = kernel_work(binary("%u11", "%own"), "main", 32)
    assert work.is_bounded and work.flops == 6 * (4 + 8)
