"""What each arith, math, vector and gpu op becomes in SPIR-V: one table, by op name."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects import arith as xdsl_arith
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.index_range import constant_int
from ingot.compiler.dialects import gpu, spirv
from ingot.passes.lowering import spirv_memory
from ingot.passes.lowering.conversion import (
    FunctionConversion,
    Handler,
    is_copied,
    make_op,
    width_of,
)
from ingot.passes.lowering.emitter import element_type, with_element
from ingot.passes.lowering.spirv_vectors import splat

SpirvOp = type[Operation]


def _direct(op_type: SpirvOp) -> Handler:
    """The op of the same operands."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        return c.emit(make_op(op_type, c.operands(op)))

    return convert


def _float(op_type: SpirvOp) -> Handler:
    """The floating-point op of the same operands."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        return c.float_op(make_op(op_type, c.operands(op)))

    return convert


def _index_aware(op_type: SpirvOp, unsigned: SpirvOp | None = None) -> Handler:
    """An integer op: shared on indices, and without signs where no index is negative."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        if not isinstance(op.results[0].type, IndexType):
            return c.emit(make_op(op_type, c.operands(op)))
        chosen = op_type
        if unsigned is not None and all(c.is_non_negative(operand) for operand in op.operands):
            chosen = unsigned
        return c.pure(chosen, *c.operands(op))

    return convert


def _add(c: FunctionConversion, op: Operation) -> SSAValue:
    """A sum; an index and a negative number are a difference, which reads better without signs."""
    if not isinstance(op.results[0].type, IndexType):
        return c.emit(make_op(spirv.IAddOp, c.operands(op)))
    number = constant_int(op.operands[1])
    if number is not None and number < 0:
        return c.pure(spirv.ISubOp, c.value(op.operands[0]), c.index_constant(-number))
    return c.pure(spirv.IAddOp, *c.operands(op))


def _logical(bits: SpirvOp, boolean: SpirvOp) -> Handler:
    """A bitwise op, or the one on Booleans."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        is_boolean = element_type(op.results[0].type) == i1
        return c.emit(make_op(boolean if is_boolean else bits, c.operands(op)))

    return convert


def _xor(c: FunctionConversion, op: Operation) -> SSAValue:
    is_boolean = element_type(op.results[0].type) == i1
    known = constant_int(op.operands[1])
    if is_boolean and known is not None and known != 0:
        return c.emit(spirv.LogicalNotOp(c.value(op.operands[0])))
    if not is_boolean and known == -1:
        return c.emit(spirv.NotOp(c.value(op.operands[0])))
    chosen = spirv.LogicalNotEqualOp if is_boolean else spirv.BitwiseXorOp
    return c.emit(chosen(*c.operands(op)))


def _cast(op_type: Callable[[SSAValue, Attribute], Operation]) -> Handler:
    """A conversion to the result's type; nothing where that is the operand's."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        value, target = c.value(op.operands[0]), c.result_type(op)
        return value if value.type == target else c.emit(op_type(value, target))

    return convert


def _index_cast(*, signed: bool) -> Handler:
    """A conversion from or to index. An integer that 32 bits do not hold becomes the nearest that
    they do: an index beyond the end of a buffer must not come back inside it."""

    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        value, target = c.value(op.operands[0]), c.result_type(op)
        to_index = isinstance(element_type(op.results[0].type), IndexType)
        bits = spirv.bit_width(element_type(target))
        if to_index and spirv.bit_width(element_type(value.type)) >= bits:
            value = _limited(c, value, bits, signed=signed)
        if value.type == target:
            return value
        return c.emit((spirv.SConvertOp if signed else spirv.UConvertOp)(value, target))

    return convert


def _limited(c: FunctionConversion, value: SSAValue, bits: int, *, signed: bool) -> SSAValue:
    """An integer, or each of a vector, limited to the range of signed integers of `bits` bits."""
    element = element_type(value.type)
    high = splat(c, c.constant((1 << (bits - 1)) - 1, element), value.type)
    if not signed:
        return c.emit(spirv.GLUMinOp(value, high))
    if spirv.bit_width(element) == bits:
        return value
    low = splat(c, c.constant(-(1 << (bits - 1)), element), value.type)
    return c.emit(spirv.GLSMaxOp(c.emit(spirv.GLSMinOp(value, high)), low))


_ON_INTEGERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_CMPI: dict[str, SpirvOp] = {
    "eq": spirv.IEqualOp,
    "ne": spirv.INotEqualOp,
    "slt": spirv.SLessThanOp,
    "sle": spirv.SLessThanEqualOp,
    "sgt": spirv.SGreaterThanOp,
    "sge": spirv.SGreaterThanEqualOp,
    "ult": spirv.ULessThanOp,
    "ule": spirv.ULessThanEqualOp,
    "ugt": spirv.UGreaterThanOp,
    "uge": spirv.UGreaterThanEqualOp,
}
_CMPF: dict[str, SpirvOp] = {
    "oeq": spirv.FOrdEqualOp,
    "ogt": spirv.FOrdGreaterThanOp,
    "oge": spirv.FOrdGreaterThanEqualOp,
    "olt": spirv.FOrdLessThanOp,
    "ole": spirv.FOrdLessThanEqualOp,
    "one": spirv.FOrdNotEqualOp,
    "ueq": spirv.FUnordEqualOp,
    "ugt": spirv.FUnordGreaterThanOp,
    "uge": spirv.FUnordGreaterThanEqualOp,
    "ult": spirv.FUnordLessThanOp,
    "ule": spirv.FUnordLessThanEqualOp,
    "une": spirv.FUnordNotEqualOp,
}


def _cmpi(c: FunctionConversion, op: Operation) -> SSAValue:
    assert isinstance(op, xdsl_arith.CmpiOp)
    predicate = _ON_INTEGERS[op.predicate.value.data]
    operands = c.operands(op)
    if element_type(op.lhs.type) == i1:
        booleans = {"eq": spirv.LogicalEqualOp, "ne": spirv.LogicalNotEqualOp}
        if predicate not in booleans:
            raise refuse(op, f"`arith.cmpi {predicate}` on i1 that `expand-math` left")
        return c.emit(make_op(booleans[predicate], operands))
    if isinstance(op.lhs.type, IndexType):
        if predicate[0] == "s" and c.is_non_negative(op.lhs) and c.is_non_negative(op.rhs):
            predicate = "u" + predicate[1:]
        return c.pure(_CMPI[predicate], *operands)
    return c.emit(make_op(_CMPI[predicate], operands))


def _cmpf(c: FunctionConversion, op: Operation) -> SSAValue:
    assert isinstance(op, xdsl_arith.CmpfOp)
    predicate = xdsl_arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    a, b = c.operands(op)
    if (chosen := _CMPF.get(predicate)) is not None:
        return c.float_op(make_op(chosen, (a, b)))
    if predicate in ("true", "false"):
        return splat(c, c.constant(predicate == "true", i1), c.result_type(op))
    unordered = c.emit(spirv.IsNanOp(a))
    if a is not b and not _is_number(op.rhs):
        unordered = c.emit(spirv.LogicalOrOp(unordered, c.emit(spirv.IsNanOp(b))))
    return unordered if predicate == "uno" else c.emit(spirv.LogicalNotOp(unordered))


def _is_number(value: SSAValue) -> bool:
    """Whether a value is a constant other than NaN."""
    op = value.owner
    if isinstance(op, xdsl_arith.ConstantOp) and isinstance(op.value, FloatAttr):
        return op.value.value.data == op.value.value.data
    return False


def _select(c: FunctionConversion, op: Operation) -> SSAValue:
    condition, true, false = c.operands(op)
    condition = splat(c, condition, with_element(true.type, i1))
    return spirv_memory.keep_in_place(c, op, c.emit(spirv.SelectOp(condition, true, false)))


def _constant(c: FunctionConversion, op: Operation) -> SSAValue:
    assert isinstance(op, xdsl_arith.ConstantOp)
    type_ = c.result_type(op)
    match op.value:
        case IntegerAttr(value=value):
            return c.constant(value.data, type_)
        case FloatAttr() as number:
            return c.constant_attribute(number)
        case dense:
            assert isinstance(dense, DenseIntOrFPElementsAttr), "the reader knows no other constant"
            numbers = cast("tuple[float, ...]", dense.get_values())
            if is_copied(op.result.type):
                return splat(c, c.constant(0, i32), type_)
            if width_of(type_) == 1:
                return c.constant(numbers[0], type_)
            if element_type(op.result.type) != element_type(type_):
                vector = cast("VectorType[Attribute]", type_)
                return c.constant_attribute(
                    DenseIntOrFPElementsAttr.from_list(vector, numbers)  # pyright: ignore
                )
            return c.constant_attribute(dense)


def _count_leading_zeros(c: FunctionConversion, op: Operation) -> SSAValue:
    # the most significant bit of zero is -1
    highest = c.emit(spirv.GLFindUMsbOp(c.value(op.operands[0])))
    return c.emit(spirv.ISubOp(splat(c, c.constant(31, i32), highest.type), highest))


def _thread_built_in(built_in: spirv.BuiltIn) -> Handler:
    def convert(c: FunctionConversion, op: Operation) -> SSAValue:
        return c.built_in(built_in, _dimension(op))

    return convert


def _lane_built_in(built_in: spirv.BuiltIn) -> Handler:
    return lambda c, op: c.built_in(built_in)


def _dimension(op: Operation) -> int:
    dimension = op.properties["dimension"]
    assert isinstance(dimension, gpu.DimensionAttr)
    return "xyz".index(str(dimension.data))


def _block_dim(c: FunctionConversion, op: Operation) -> SSAValue:
    return c.index_constant(c.workgroup_size[_dimension(op)])


def _barrier(c: FunctionConversion, op: Operation) -> None:
    """Device memory only takes part where a kernel may read back what its threads wrote to it."""
    kernel = op
    while not isinstance(kernel, func.FuncOp):
        parent = kernel.parent_op()
        assert parent is not None, "a barrier lies in a kernel"
        kernel = parent
    semantics = spirv.MemorySemantics
    memory = semantics.AcquireRelease | semantics.WorkgroupMemory
    if any(spirv_memory.is_read(a) and spirv_memory.is_written(a) for a in kernel.body.block.args):
        memory |= semantics.UniformMemory
    if c.vulkan_memory:
        memory |= semantics.MakeAvailable | semantics.MakeVisible
    c.add(spirv.ControlBarrierOp(spirv.Scope.Workgroup, spirv.Scope.Workgroup, memory))


_SHUFFLES: dict[gpu.ShuffleMode, Callable[[spirv.Scope, SSAValue, SSAValue], Operation]] = {
    gpu.ShuffleMode.XOR: spirv.GroupNonUniformShuffleXorOp,
    gpu.ShuffleMode.IDX: spirv.GroupNonUniformShuffleOp,
    gpu.ShuffleMode.UP: spirv.GroupNonUniformShuffleUpOp,
    gpu.ShuffleMode.DOWN: spirv.GroupNonUniformShuffleDownOp,
}


def _shuffle(c: FunctionConversion, op: Operation) -> SSAValue:
    assert isinstance(op, gpu.ShuffleOp)
    if any(use.operation in c.live for use in op.valid.uses):
        raise refuse(op, "`gpu.shuffle` whose second result is used")
    build = _SHUFFLES[op.mode.data]
    result = c.emit(build(spirv.Scope.Subgroup, c.value(op.value), c.value(op.offset)))
    if not _is_evaluated_lazily(op.results[0]):
        return result
    variable = c.emit(spirv.VariableOp(result.type))
    c.add(spirv.StoreOp(variable, result))
    return c.emit(spirv.LoadOp(variable))


def _is_evaluated_lazily(value: SSAValue) -> bool:
    """Whether SPIRV-Cross may print a value inside the second operand of `&&`, `||` or `?:`.

    There only some lanes would compute it: no place for a shuffle. A value with several uses gets
    a name, and so do the operands of everything else.
    """
    uses = list(value.uses)
    if len(uses) != 1:
        return False
    user = uses[0].operation
    if isinstance(user, xdsl_arith.SelectOp):
        return True
    if isinstance(user, xdsl_arith.AndIOp | xdsl_arith.OrIOp) and element_type(value.type) == i1:
        return True
    return len(user.results) == 1 and not user.regions and _is_evaluated_lazily(user.results[0])


def _call(c: FunctionConversion, op: Operation) -> SSAValue:
    """A call, whose result goes through a variable.

    SPIRV-Cross moves the call of a function without effects to where its result is used, without
    regard to what happened to the operands meanwhile: a shuffle among them would end up inside a
    branch that not all lanes take. A store keeps the call where it is.
    """
    assert c.call is not None
    callee = c.call(cast(func.CallOp, op).callee.string_value())
    operands = tuple(c.operands(op))

    def store_and_load() -> Operation:
        result = c.emit(spirv.FunctionCallOp(callee, operands))
        variable = c.emit(spirv.VariableOp(result.type))
        variable.name_hint = op.results[0].name_hint
        c.add(spirv.StoreOp(variable, result))
        return spirv.LoadOp(variable)

    return c.pure_keyed((callee, *map(id, operands)), store_and_load)


HANDLERS: dict[str, Handler] = {
    "arith.constant": _constant,
    "arith.addf": _float(spirv.FAddOp),
    "arith.subf": _float(spirv.FSubOp),
    "arith.mulf": _float(spirv.FMulOp),
    "arith.divf": _float(spirv.FDivOp),
    "arith.negf": _float(spirv.FNegateOp),
    "arith.addi": _add,
    "arith.subi": _index_aware(spirv.ISubOp),
    "arith.muli": _index_aware(spirv.IMulOp),
    "arith.divsi": _index_aware(spirv.SDivOp, spirv.UDivOp),
    "arith.divui": _index_aware(spirv.UDivOp),
    "arith.remui": _index_aware(spirv.UModOp),
    "arith.minsi": _index_aware(spirv.GLSMinOp, spirv.GLUMinOp),
    "arith.maxsi": _index_aware(spirv.GLSMaxOp, spirv.GLUMaxOp),
    "arith.minui": _index_aware(spirv.GLUMinOp),
    "arith.maxui": _index_aware(spirv.GLUMaxOp),
    "arith.shli": _index_aware(spirv.ShiftLeftLogicalOp),
    "arith.shrui": _index_aware(spirv.ShiftRightLogicalOp),
    "arith.shrsi": _index_aware(spirv.ShiftRightArithmeticOp, spirv.ShiftRightLogicalOp),
    "arith.andi": _logical(spirv.BitwiseAndOp, spirv.LogicalAndOp),
    "arith.ori": _logical(spirv.BitwiseOrOp, spirv.LogicalOrOp),
    "arith.xori": _xor,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.bitcast": _cast(spirv.BitcastOp),
    "arith.extf": _cast(spirv.FConvertOp),
    "arith.truncf": _cast(spirv.FConvertOp),
    "arith.extsi": _cast(spirv.SConvertOp),
    "arith.extui": _cast(spirv.UConvertOp),
    "arith.trunci": _cast(spirv.UConvertOp),
    "arith.index_cast": _index_cast(signed=True),
    "arith.index_castui": _index_cast(signed=False),
    "arith.sitofp": _cast(spirv.ConvertSToFOp),
    "arith.uitofp": _cast(spirv.ConvertUToFOp),
    "arith.fptosi": _cast(spirv.ConvertFToSOp),
    "arith.fptoui": _cast(spirv.ConvertFToUOp),
    "math.absf": _direct(spirv.GLFAbsOp),
    "math.sqrt": _direct(spirv.GLSqrtOp),
    "math.rsqrt": _direct(spirv.GLInverseSqrtOp),
    "math.floor": _direct(spirv.GLFloorOp),
    "math.ceil": _direct(spirv.GLCeilOp),
    "math.trunc": _direct(spirv.GLTruncOp),
    "math.roundeven": _direct(spirv.GLRoundEvenOp),
    "math.fma": _direct(spirv.GLFmaOp),
    "math.exp": _direct(spirv.GLExpOp),
    "math.exp2": _direct(spirv.GLExp2Op),
    "math.log": _direct(spirv.GLLogOp),
    "math.log2": _direct(spirv.GLLog2Op),
    "math.sin": _direct(spirv.GLSinOp),
    "math.cos": _direct(spirv.GLCosOp),
    "math.ctpop": _direct(spirv.BitCountOp),
    "math.ctlz": _count_leading_zeros,
    "vector.bitcast": _cast(spirv.BitcastOp),
    "vector.fma": _direct(spirv.GLFmaOp),
    "gpu.thread_id": _thread_built_in(spirv.BuiltIn.LocalInvocationId),
    "gpu.block_id": _thread_built_in(spirv.BuiltIn.WorkgroupId),
    "gpu.grid_dim": _thread_built_in(spirv.BuiltIn.NumWorkgroups),
    "gpu.global_id": _thread_built_in(spirv.BuiltIn.GlobalInvocationId),
    "gpu.block_dim": _block_dim,
    "gpu.lane_id": _lane_built_in(spirv.BuiltIn.SubgroupLocalInvocationId),
    "gpu.subgroup_id": _lane_built_in(spirv.BuiltIn.SubgroupId),
    "gpu.num_subgroups": _lane_built_in(spirv.BuiltIn.NumSubgroups),
    "gpu.subgroup_size": _lane_built_in(spirv.BuiltIn.SubgroupSize),
    "gpu.barrier": _barrier,
    "gpu.shuffle": _shuffle,
    "func.call": _call,
}
"""Handlers by op name; an op that is missing here has no one meaning in SPIR-V everywhere."""
