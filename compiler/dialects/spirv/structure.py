"""What a module is made of: globals, functions, entry points, execution modes, constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    opt_attr_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    OptionalSymbolOpInterface,
    Pure,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    SpirvOp,
    i32_array,
    parse_types,
)
from ingot.compiler.dialects.spirv.enums import (
    AddressingModel,
    AddressingModelAttr,
    BuiltIn,
    ExecutionMode,
    ExecutionModeAttr,
    ExecutionModel,
    ExecutionModelAttr,
    FunctionControl,
    FunctionControlAttr,
    MemoryModel,
    MemoryModelAttr,
    StorageClass,
    VersionCapabilitiesExtensionsAttr,
    flag_names,
    flags_named,
    parse_enumerant,
)
from ingot.compiler.dialects.spirv.types import (
    PointerType,
)


@irdl_op_definition
class ModuleOp(SpirvOp):
    """`spirv.module @name Logical GLSL450 requires #spirv.vce<...> { ... }`"""

    name = "spirv.module"

    addressing_model: AddressingModelAttr = prop_def(AddressingModelAttr)
    memory_model: MemoryModelAttr = prop_def(MemoryModelAttr)
    vce_triple: VersionCapabilitiesExtensionsAttr | None = opt_prop_def(
        VersionCapabilitiesExtensionsAttr
    )
    sym_name: StringAttr | None = opt_prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(
        IsolatedFromAbove(), NoTerminator(), SymbolTable(), OptionalSymbolOpInterface()
    )

    def __init__(
        self,
        name: str | None,
        ops: Sequence[Operation] = (),
        vce: VersionCapabilitiesExtensionsAttr | None = None,
        memory_model: MemoryModel = MemoryModel.GLSL450,
    ) -> None:
        super().__init__(
            properties={
                "addressing_model": AddressingModelAttr(AddressingModel.Logical),
                "memory_model": MemoryModelAttr(memory_model),
                "vce_triple": vce,
                "sym_name": None if name is None else StringAttr(name),
            },
            regions=[Region(Block(ops))],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_optional_symbol_name()
        addressing = AddressingModel(parse_enumerant(parser, AddressingModel))
        memory = MemoryModel(parse_enumerant(parser, MemoryModel))
        vce = None
        if parser.parse_optional_keyword("requires"):
            position = parser.pos
            vce = parser.parse_attribute()
            if not isinstance(vce, VersionCapabilitiesExtensionsAttr):
                parser.raise_error("expected a #spirv.vce", position)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        properties: dict[str, Attribute] = {
            "addressing_model": AddressingModelAttr(addressing),
            "memory_model": MemoryModelAttr(memory),
        }
        if vce is not None:
            properties["vce_triple"] = vce
        if name is not None:
            properties["sym_name"] = name
        return cls.create(
            properties=properties,
            attributes={} if attributes is None else dict(attributes.data),
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        if self.sym_name is not None:
            printer.print_string(" ")
            printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" {self.addressing_model.data.name} {self.memory_model.data.name}")
        if self.vce_triple is not None:
            printer.print_string(" requires ")
            printer.print_attribute(self.vce_triple)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class GlobalVariableOp(SpirvOp):
    """A module's variable: a bound buffer, a built-in input, or threadgroup memory.

    `spirv.GlobalVariable @x bind(0, 1) {non_writable} : !spirv.ptr<..., StorageBuffer>`
    `spirv.GlobalVariable @id built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>`
    """

    name = "spirv.GlobalVariable"

    type: PointerType = prop_def(PointerType)
    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    initializer: SymbolRefAttr | None = opt_prop_def(FlatSymbolRefAttrConstr)
    descriptor_set: IntegerAttr | None = opt_prop_def(IntegerAttr)
    binding: IntegerAttr | None = opt_prop_def(IntegerAttr)
    built_in: StringAttr | None = opt_attr_def(StringAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        type: PointerType,
        *,
        bind: tuple[int, int] | None = None,
        built_in: BuiltIn | None = None,
    ) -> None:
        """`bind` is (descriptor set, binding)."""
        super().__init__(
            properties={
                "type": type,
                "sym_name": StringAttr(name),
                "descriptor_set": None if bind is None else IntegerAttr(bind[0], i32),
                "binding": None if bind is None else IntegerAttr(bind[1], i32),
            },
            attributes={} if built_in is None else {"built_in": StringAttr(built_in.name)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        properties: dict[str, Attribute] = {"sym_name": name}
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("initializer"):
            with parser.in_parens():
                properties["initializer"] = SymbolRefAttr(parser.parse_symbol_name())
        if parser.parse_optional_keyword("bind"):
            with parser.in_parens():
                properties["descriptor_set"] = IntegerAttr(parser.parse_integer(), i32)
                parser.parse_punctuation(",")
                properties["binding"] = IntegerAttr(parser.parse_integer(), i32)
        elif parser.parse_optional_keyword("built_in"):
            with parser.in_parens():
                attributes["built_in"] = StringAttr(parser.parse_str_literal())
        attributes |= parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        properties["type"] = parser.parse_type()
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.initializer is not None:
            printer.print_string(" initializer(")
            printer.print_attribute(self.initializer)
            printer.print_string(")")
        if self.descriptor_set is not None and self.binding is not None:
            place = f"{self.descriptor_set.value.data}, {self.binding.value.data}"
            printer.print_string(f" bind({place})")
        if self.built_in is not None:
            printer.print_string(f' built_in("{self.built_in.data}")')
        printer.print_op_attributes(self.attributes, reserved_attr_names=("built_in",))
        printer.print_string(" : ")
        printer.print_attribute(self.type)

    def verify_(self) -> None:
        self.expect(
            self.type.storage_class not in (StorageClass.Function, StorageClass.Generic),
            "a global variable cannot have the storage class Function; use spirv.Variable",
        )
        self.expect(
            (self.binding is None) == (self.descriptor_set is None),
            "a binding comes with a descriptor set",
        )
        if self.built_in is not None:
            self.expect(
                self.built_in.data in BuiltIn.__members__,
                f"'{self.built_in.data}' is not a known built-in",
            )


@irdl_op_definition
class FuncOp(SpirvOp):
    """`spirv.func @f(%a: f32) -> f32 "None" { ... }`"""

    name = "spirv.func"

    body = region_def()
    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    function_type: FunctionType = prop_def(FunctionType)
    function_control: FunctionControlAttr = prop_def(FunctionControlAttr)
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]] = ((), ()),
        body: Region | None = None,
        control: FunctionControl | None = None,
    ) -> None:
        """Without `body` the function gets an entry block with the arguments to be filled."""
        if isinstance(function_type, tuple):
            function_type = FunctionType.from_lists(*function_type)
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                "function_control": FunctionControlAttr(control or FunctionControl(0)),
            },
            regions=[body or Region(Block(arg_types=function_type.inputs.data))],
        )

    @property
    def entry(self) -> Block:
        """The block in which the function starts."""
        block = self.body.blocks.first
        assert block is not None
        return block

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=True)
        )
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            if parser.parse_optional_punctuation("("):
                if not parser.parse_optional_punctuation(")"):
                    results = parse_types(parser)
                    parser.parse_punctuation(")")
            else:
                results = [parser.parse_type()]
        position = parser.pos
        control = flags_named(
            parser, FunctionControl, parser.parse_str_literal().split("|"), position
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(arguments)
        op = cls(
            name.data,
            ([argument.type for argument in arguments], results),
            region,
            FunctionControl(control),
        )
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.entry.args, printer.print_block_argument)
        if self.function_type.outputs.data:
            printer.print_string(" -> ")
            printer.print_list(self.function_type.outputs.data, printer.print_attribute)
        printer.print_string(f' "{flag_names(self.function_control.data)}"')
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        self.expect(len(self.function_type.outputs) <= 1, "a function returns one value or none")
        self.expect(bool(self.body.blocks), "a function needs a body")
        self.expect(
            tuple(self.entry.arg_types) == self.function_type.inputs.data,
            "the entry block's arguments must be those of the function type",
        )


@irdl_op_definition
class EntryPointOp(SpirvOp):
    """`spirv.EntryPoint "GLCompute" @f, @gid`: a function that can be dispatched.

    `interface` names the Input and Output variables it uses (all globals from SPIR-V 1.4 on).
    """

    name = "spirv.EntryPoint"

    execution_model: ExecutionModelAttr = prop_def(ExecutionModelAttr)
    fn: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    interface: ArrayAttr[SymbolRefAttr] = prop_def(ArrayAttr[SymbolRefAttr])

    def __init__(self, fn: str, interface: Sequence[str] = ()) -> None:
        super().__init__(
            properties={
                "execution_model": ExecutionModelAttr(ExecutionModel.GLCompute),
                "fn": SymbolRefAttr(fn),
                "interface": ArrayAttr([SymbolRefAttr(name) for name in interface]),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        model = parser.parse_str_literal()
        if model not in ExecutionModel.__members__:
            parser.raise_error(f"'{model}' is not a supported execution model", position)
        fn = parser.parse_symbol_name()
        interface: list[str] = []
        while parser.parse_optional_punctuation(","):
            interface.append(parser.parse_symbol_name().data)
        return cls(fn.data, interface)

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.execution_model.data.name}" ')
        printer.print_list([self.fn, *self.interface], printer.print_attribute)


@irdl_op_definition
class ExecutionModeOp(SpirvOp):
    """`spirv.ExecutionMode @f "LocalSize", 64, 1, 1`"""

    name = "spirv.ExecutionMode"

    fn: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    execution_mode: ExecutionModeAttr = prop_def(ExecutionModeAttr)
    values: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])

    def __init__(self, fn: str, mode: ExecutionMode, values: Sequence[int] = ()) -> None:
        super().__init__(
            properties={
                "fn": SymbolRefAttr(fn),
                "execution_mode": ExecutionModeAttr(mode),
                "values": i32_array(values),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        fn = parser.parse_symbol_name()
        position = parser.pos
        mode = parser.parse_str_literal()
        if mode not in ExecutionMode.__members__:
            parser.raise_error(f"'{mode}' is not a supported execution mode", position)
        values: list[int] = []
        while parser.parse_optional_punctuation(","):
            values.append(parser.parse_integer())
        return cls(fn.data, ExecutionMode[mode], values)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.fn)
        printer.print_string(f' "{self.execution_mode.data.name}"')
        for value in self.values:
            printer.print_string(f", {value.value.data}")

    def verify_(self) -> None:
        count = _MODE_OPERANDS.get(self.execution_mode.data, 1)
        self.expect(
            len(self.values) == count,
            f"{self.execution_mode.data.name} takes {count} numbers, got {len(self.values)}",
        )


_MODE_OPERANDS = {ExecutionMode.LocalSize: 3, ExecutionMode.ContractionOff: 0}


@irdl_op_definition
class AddressOfOp(SpirvOp):
    """`%x = spirv.mlir.addressof @x : !spirv.ptr<f32, Workgroup>`"""

    name = "spirv.mlir.addressof"

    variable: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    pointer = result_def(PointerType)
    traits = traits_def(Pure())
    assembly_format = "$variable attr-dict `:` type($pointer)"

    def __init__(self, variable: GlobalVariableOp | str, type: PointerType | None = None) -> None:
        """`type` is needed only where the variable is given by name."""
        if isinstance(variable, GlobalVariableOp):
            variable, type = variable.sym_name.data, variable.type
        if type is None:
            raise VerifyException("spirv.mlir.addressof of a name needs the pointer type")
        super().__init__(result_types=[type], properties={"variable": SymbolRefAttr(variable)})

    def verify_(self) -> None:
        target = SymbolTable.lookup_symbol(self, self.variable)
        if isinstance(target, GlobalVariableOp):
            self.expect(
                target.type == self.pointer.type,
                f"result must be {target.type}, got {self.pointer.type}",
            )
