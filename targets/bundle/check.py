"""What must hold in every bundle, whoever made it; the writer and the reader both ask.

After this check a runtime may trust every index, range and count of the bundle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.model import (
    Access,
    Barrier,
    BufferKind,
    BufferRef,
    Bundle,
    Check,
    Command,
    Compute,
    Constant,
    Copy,
    Dispatch,
    Fill,
    Function,
    FunctionBody,
    If,
    Kernel,
    Load,
    Loop,
    Operand,
    Register,
    Setup,
    Size,
    Store,
    TensorType,
    Variant,
    While,
    loaded_registers,
)

MATH_MODES = ("safe", "fast", "strict")
_MAX_BYTES = 2**63 - 1
_MAX_U32 = 2**32 - 1
_MAX_RANK = 64
_MAX_SENTENCE = 500
_MAX_REGISTERS = 2**16
MAX_DEPTH = 32
"""How deep control flow may be nested."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SPIRV_MAGIC = b"\x03\x02\x23\x07"


class _Checker:
    """Carries the name of the file, to begin each sentence with."""

    def __init__(self, source: str) -> None:
        self.source = source

    def require(self, condition: bool, what: str) -> None:
        if not condition:
            raise BundleError(f"{self.source}: {_one_line(what)}")

    def within(self, value: int, most: int, what: str) -> None:
        self.require(0 <= value <= most, f"{what} is {value}, not 0 to {most}")


def check_bundle(bundle: Bundle, source: str) -> None:
    """Raise `BundleError`, with a sentence that begins with `source`, when `bundle` is wrong."""
    check = _Checker(source)
    for text in _shown(bundle):
        check.require(_CONTROLS.search(text) is None, f"the name '{text}' has control characters")
    names = [function.name for function in bundle.functions]
    check.require(len(set(names)) == len(names), "two functions have the same name")
    for function in bundle.functions:
        _check_function(check, function)
    for constant in bundle.constants:
        _check_constant(check, constant)
    check.require(len(bundle.variants) > 0, "the bundle has no variant for any target")
    for variant in bundle.variants:
        _check_variant(check, variant, bundle)


def _shown(bundle: Bundle) -> Iterator[str]:
    """The texts that people see, on a terminal that would obey control characters."""
    for function in bundle.functions:
        yield from (function.name, *function.argument_names, *function.result_names)
    for constant in bundle.constants:
        yield constant.name
    for variant in bundle.variants:
        yield from (variant.target, variant.api, *variant.required_features)
        for kernel in variant.kernels:
            yield from (kernel.name, kernel.entry_point, kernel.spirv_entry_point, kernel.location)
            yield from (binding.name for binding in kernel.bindings)
        for body in variant.bodies:
            yield from (command.message for command in body.setup if isinstance(command, Check))


def _check_type(check: _Checker, tensor: TensorType, what: str) -> None:
    check.require(len(tensor.shape) <= _MAX_RANK, f"{what} has {len(tensor.shape)} dimensions")
    for size in tensor.shape:
        check.require(-1 <= size <= _MAX_BYTES, f"{what} has a dimension of size {size}")
    if tensor.is_static:
        check.within(tensor.byte_size, _MAX_BYTES, f"the size of {what} in bytes")


def _check_function(check: _Checker, function: Function) -> None:
    where = f"function '{function.name}'"
    check.require(function.name != "", "a function has no name")
    for kind, types, names in (
        ("argument", function.arguments, function.argument_names),
        ("result", function.results, function.result_names),
    ):
        check.require(
            len(names) in (0, len(types)),
            f"{where} has {len(types)} {kind}s and {len(names)} names for them",
        )
        for position, tensor in enumerate(types):
            _check_type(check, tensor, f"{kind} {position} of {where}")


def _check_constant(check: _Checker, constant: Constant) -> None:
    where = f"constant '{constant.name}'"
    _check_type(check, constant.type, where)
    check.require(constant.type.is_static, f"{where} has a size known only at run time")
    weight = constant.weight
    if weight is not None:
        plain = weight.file not in ("", ".", "..") and not set(weight.file) & set("/\\:\0")
        check.require(plain, f"{where} is in '{weight.file}', which is not the name of a file")
        check.require(weight.key != "", f"{where} is a weight without a key")
        check.require(len(weight.digest) == 32, f"{where} is a weight without a hash")
        if not constant.data:
            return
    length = memoryview(constant.data).nbytes
    expected = constant.type.byte_size
    check.require(length == expected, f"{where} has {length} bytes of data, not {expected}")


def _check_variant(check: _Checker, variant: Variant, bundle: Bundle) -> None:
    where = f"variant '{variant.target}'"
    check.require(variant.api != "", f"{where} names no api")
    check.require(
        variant.math_mode in MATH_MODES, f"{where} has the unknown math mode '{variant.math_mode}'"
    )
    for what, value in (("family", variant.family), ("SIMD width", variant.simd_width)):
        check.within(value, _MAX_U32, f"the {what} of {where}")
    check.require(len(variant.msl_version) == 2, f"{where} has no MSL version")
    for value in variant.msl_version:
        check.within(value, _MAX_U32, f"the MSL version of {where}")
    for kernel in variant.kernels:
        _check_kernel(check, kernel)
    check.require(
        len(variant.bodies) == len(bundle.functions),
        f"{where} has {len(variant.bodies)} bodies for {len(bundle.functions)} functions",
    )
    sizes = [constant.type.byte_size for constant in bundle.constants]
    for function, body in zip(bundle.functions, variant.bodies, strict=True):
        _BodyChecker(check, function, body, sizes).check(variant.kernels)


def _check_kernel(check: _Checker, kernel: Kernel) -> None:
    where = f"kernel '{kernel.name}'"
    check.require(kernel.name != "", "a kernel has no name")
    check.require(len(kernel.threadgroup_size) == 3, f"{where} has no threadgroup size")
    for size in kernel.threadgroup_size:
        check.require(1 <= size <= _MAX_U32, f"{where} has a threadgroup dimension of {size}")
    check.within(kernel.push_constant_size, _MAX_U32, f"the push constant size of {where}")
    check.within(kernel.threadgroup_memory, _MAX_BYTES, f"the threadgroup memory of {where}")
    if kernel.spirv:
        check.require(
            len(kernel.spirv) % 4 == 0 and len(kernel.spirv) >= 20, f"{where} has cut-off SPIR-V"
        )
        check.require(kernel.spirv.startswith(_SPIRV_MAGIC), f"{where} has SPIR-V without its mark")
    platforms = [library.platform for library in kernel.metallibs]
    check.require(len(set(platforms)) == len(platforms), f"{where} has two metallibs of a platform")
    for library in kernel.metallibs:
        check.require(library.platform != "", f"{where} has a metallib for no platform")
        check.require(len(library.data) > 0, f"{where} has an empty metallib")


class _BodyChecker:
    """Checks the command list of one function.

    Of what a register decides only the register is checked here; a runtime checks the value.
    """

    def __init__(
        self, check: _Checker, function: Function, body: FunctionBody, constants: Sequence[int]
    ) -> None:
        self._check = check
        self._where = f"function '{function.name}'"
        self._function = function
        self._body = body
        self._loaded: frozenset[int] = frozenset()
        transient = None if isinstance(body.transient, Register) else body.transient_size
        self._sizes: dict[BufferKind, Sequence[int | None]] = {
            BufferKind.ARGUMENT: _sizes(function.arguments),
            BufferKind.RESULT: _sizes(function.results),
            BufferKind.CONSTANT: constants,
            BufferKind.TRANSIENT: (transient,),
        }

    def check(self, kernels: Sequence[Kernel]) -> None:
        body = self._body
        for what, size in (
            ("transient size", body.transient_size),
            ("transient lower bound", body.transient_lower_bound),
        ):
            self._check.within(size, _MAX_BYTES, f"the {what} of {self._where}")
        self._check.within(body.registers, _MAX_REGISTERS, f"the registers of {self._where}")
        for position, command in enumerate(body.setup):
            self._check_setup(command, f"setup {position} of {self._where}")
        self._check_operand(body.transient, f"the arena of {self._where}")
        self._check.require(
            isinstance(body.transient, Register) or body.transient == 0,
            f"the arena of {self._where} has two sizes",
        )
        self._loaded = loaded_registers(body.commands)
        unknown = sum(size < 0 for tensor in self._function.results for size in tensor.shape)
        self._check.require(
            len(body.result_sizes) == unknown,
            f"{self._where} gives {len(body.result_sizes)} sizes for {unknown} of its results",
        )
        for size in body.result_sizes:
            self._check_operand(size, f"a result's size of {self._where}")
        self._check_list(body.commands, kernels, "", 0)

    def _check_list(
        self, commands: Sequence[Command], kernels: Sequence[Kernel], inside: str, depth: int
    ) -> None:
        self._check.require(
            depth <= MAX_DEPTH, f"{self._where} nests control flow more than {MAX_DEPTH} deep"
        )
        for position, command in enumerate(commands):
            number = f"{inside}{position}"
            where = f"command {number} of {self._where}"
            lists: tuple[Sequence[Command], ...] = ()
            match command:
                case Dispatch():
                    self._check_dispatch(command, kernels, where)
                case Fill():
                    self._check_ref(command.target, f"the target of {where}", written=True)
                    self._check.require(
                        len(command.pattern) in (1, 2, 4),
                        f"{where} fills with a pattern of {len(command.pattern)} bytes",
                    )
                case Copy():
                    self._check_copy(command, where)
                case Barrier():
                    pass
                case Load():
                    self._check_operand(command.target, where)
                    self._check_ref(command.source, f"the source of {where}", written=False)
                    self._check.require(
                        command.source.length in (1, 4, 8), f"{where} loads no 1, 4 or 8 bytes"
                    )
                case Store():
                    self._check_known(command.value, where)
                    self._check_ref(command.target, f"the target of {where}", written=True)
                    self._check.require(
                        command.target.length == 4, f"{where} stores to a range of no 4 bytes"
                    )
                case Loop():
                    self._check_operand(command.count, where)
                    lists = (command.body,)
                case While():
                    self._check_operand(command.proceed, where)
                    lists = (command.condition, command.body)
                case If():
                    self._check_operand(command.condition, where)
                    lists = (command.then, command.otherwise)
            for nested in lists:
                self._check_list(nested, kernels, f"{number}.", depth + 1)

    def _check_setup(self, command: Setup, where: str) -> None:
        match command:
            case Size():
                self._check_operand(command.target, where)
                shapes = [tensor.shape for tensor in self._function.arguments]
                self._check.require(
                    0 <= command.argument < len(shapes)
                    and 0 <= command.dimension < len(shapes[command.argument]),
                    f"{where} asks for dimension {command.dimension} of argument "
                    f"{command.argument}",
                )
            case Compute():
                for operand in (command.target, command.lhs, command.rhs):
                    self._check_operand(operand, where)
            case Check():
                self._check_operand(command.condition, where)

    def _check_operand(self, operand: Operand, where: str) -> None:
        if isinstance(operand, Register):
            self._check.require(
                0 <= operand.index < self._body.registers,
                f"{where} uses register {operand.index} of {self._body.registers}",
            )
        else:
            self._check.require(
                -(2**63) <= operand <= _MAX_BYTES, f"{where} has the number {operand}"
            )

    def _check_known(self, operand: Operand, where: str) -> None:
        """What commands are recorded with is known before the device runs."""
        self._check_operand(operand, where)
        self._check.require(
            not (isinstance(operand, Register) and operand.index in self._loaded),
            f"{where} depends on a register that is loaded from the device",
        )

    def _check_dispatch(self, command: Dispatch, kernels: Sequence[Kernel], where: str) -> None:
        require = self._check.require
        require(
            0 <= command.kernel < len(kernels),
            f"{where} runs kernel {command.kernel}, but there are {len(kernels)}",
        )
        kernel = kernels[command.kernel]
        require(len(command.groups) == 3, f"{where} has no grid")
        for count in command.groups:
            self._check_known(count, where)
            if isinstance(count, int):
                self._check.within(count, _MAX_U32, f"the grid of {where}")
        require(
            len(command.bindings) == len(kernel.bindings),
            f"{where} binds {len(command.bindings)} buffers, but kernel '{kernel.name}' has "
            f"{len(kernel.bindings)}",
        )
        require(
            len(command.push_constants) == kernel.push_constant_size,
            f"{where} gives {len(command.push_constants)} bytes of push constants, but kernel "
            f"'{kernel.name}' takes {kernel.push_constant_size}",
        )
        for position, (ref, binding) in enumerate(
            zip(command.bindings, kernel.bindings, strict=True)
        ):
            written = binding.access is not Access.READ
            self._check_ref(ref, f"binding {position} of {where}", written)

    def _check_copy(self, command: Copy, where: str) -> None:
        source, target = command.source, command.target
        self._check_ref(source, f"the source of {where}", written=False)
        self._check_ref(target, f"the target of {where}", written=True)
        self._check.require(
            source.length == target.length,
            f"{where} copies {source.length} bytes to {target.length} bytes",
        )
        self._check.require(not _overlap(source, target), f"{where} copies onto itself")

    def _check_ref(self, ref: BufferRef, what: str, written: bool) -> None:
        require = self._check.require
        sizes = self._sizes[ref.kind]
        kind = ref.kind.name.lower()
        require(0 <= ref.index < len(sizes), f"{what} is {kind} {ref.index} of {len(sizes)}")
        require(
            not written or ref.kind in (BufferKind.RESULT, BufferKind.TRANSIENT),
            f"{what} writes to {kind} {ref.index}",
        )
        self._check_known(ref.offset, what)
        self._check_known(ref.length, what)
        offset, length, size = ref.offset, ref.length, sizes[ref.index]
        if isinstance(offset, Register) or isinstance(length, Register):
            return
        require(offset >= 0 and length >= 0, f"{what} has a negative offset or length")
        require(
            size is None or offset + length <= size,
            f"{what} is bytes {offset} to {offset + length} of {kind} {ref.index}, "
            f"which has {size}",
        )


def _one_line(sentence: str) -> str:
    """Names in a sentence come from the file: show controls as escapes, and not without end."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in sentence)
    return shown if len(shown) <= _MAX_SENTENCE else shown[:_MAX_SENTENCE] + "..."


def _sizes(types: Iterable[TensorType]) -> tuple[int | None, ...]:
    return tuple(tensor.byte_size if tensor.is_static else None for tensor in types)


def _overlap(a: BufferRef, b: BufferRef) -> bool:
    """Whether two ranges are known to overlap."""
    if (a.kind, a.index) != (b.kind, b.index):
        return False
    numbers = a.offset, a.length, b.offset, b.length
    if any(isinstance(number, Register) for number in numbers):
        return False
    first, length, second, other = (n for n in numbers if isinstance(n, int))
    return first < second + other and second < first + length
