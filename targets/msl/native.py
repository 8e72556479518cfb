"""Functions that the hardware has an instruction for: the text gets it in place of their bodies.

A kernel calls them by name; the portable body that it carries in its SPIR-V says what they mean.
"""

from __future__ import annotations

from .functions import substitute_function_body

# The fragments of the SPIR-V lie in the lanes as `thread_elements` has them.
_MULTIPLY_ACCUMULATE = """
simdgroup_matrix<TYPE, 8, 8> left, right;
simdgroup_matrix<float, 8, 8> sum;
left.thread_elements() = as_type<TYPE2>($0);
right.thread_elements() = as_type<TYPE2>($1);
sum.thread_elements() = $2;
simdgroup_multiply_accumulate(sum, left, right, sum);
return sum.thread_elements();
"""

_PREFIX = "ingot_multiply_accumulate_"

_BODIES: dict[str, str] = {
    f"{_PREFIX}{element}": _MULTIPLY_ACCUMULATE.replace("TYPE", type_)
    for element, type_ in (("f16", "half"), ("bf16", "bfloat"), ("f32", "float"))
}


def use_native_functions(text: str) -> str:
    """The text with native bodies for all functions that have one."""
    for name, body in _BODIES.items():
        if f" {name}(" in text:
            text = substitute_function_body(text, name, body)
    return text
