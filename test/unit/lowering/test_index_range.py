"""What the structure of an index proves about it."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.parser import Parser

from ingot.compiler.analysis.index_range import is_non_negative, known_divisor
from ingot.compiler.dialects.context import make_context


def value_of(body: str) -> SSAValue:
    """The last value that a function body defines; `%data` is an unknown i32."""
    text = f"func.func @f(%data: i32) {{\n{body}\nfunc.return\n}}"
    module = Parser(make_context(), text).parse_module()
    function = next(iter(module.ops))
    last = function.regions[0].block.last_op
    assert last is not None and last.prev_op is not None
    return last.prev_op.results[0]


IDS = "%t = gpu.thread_id x\n%c4 = arith.constant 4 : index\n%c6 = arith.constant 6 : index\n"


def test_ids_and_what_is_made_of_them_are_not_negative() -> None:
    assert is_non_negative(value_of(IDS + "%r = arith.muli %t, %c4 : index"))
    assert is_non_negative(value_of(IDS + "%r = arith.minsi %t, %c4 : index"))
    assert not is_non_negative(value_of(IDS + "%r = arith.subi %t, %c4 : index"))


def test_what_is_left_of_a_number_is_not_negative_where_no_more_is_taken() -> None:
    less = "%m = arith.minsi %t, %c4 : index\n%r = arith.subi {}, %m : index"
    assert is_non_negative(value_of(IDS + less.format("%c4")))
    assert is_non_negative(value_of(IDS + less.format("%c6")))
    more = "%m = arith.minsi %t, %c6 : index\n%r = arith.subi %c4, %m : index"
    assert not is_non_negative(value_of(IDS + more))
    assert not is_non_negative(value_of(IDS + "%r = arith.subi %c4, %t : index"))


def test_data_is_unknown_and_wraps_around() -> None:
    assert not is_non_negative(value_of("%r = arith.index_cast %data : i32 to index"))
    assert is_non_negative(value_of("%r = arith.index_castui %data : i32 to index"))
    sums = IDS + "%w = arith.index_cast %t : index to i32\n%s = arith.muli %w, %w : i32\n"
    assert not is_non_negative(value_of(sums + "%r = arith.index_cast %s : i32 to index"))
    limited = "%x = arith.index_cast %data : i32 to index\n%r = arith.maxsi %x, %c4 : index"
    assert is_non_negative(value_of(IDS + limited))


def test_divisors_multiply_and_meet() -> None:
    assert known_divisor(value_of(IDS + "%r = arith.muli %t, %c4 : index")) == 4
    both = "%a = arith.muli %t, %c4 : index\n%r = arith.addi %a, %c6 : index"
    assert known_divisor(value_of(IDS + both)) == 2
    assert known_divisor(value_of(IDS + "%r = arith.addi %t, %c4 : index")) == 1
