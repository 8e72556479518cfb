"""Kernels in MSL: bindings, names, signature, header, refusals."""

from __future__ import annotations

import pytest
from unit.pyspirv.assembly import assemble, kernel

from ingot.targets.msl import MslBinding, MslError, MslOptions, cross_compile
from ingot.targets.pyspirv import Library

ADD = assemble(kernel("%r = OpFAdd %f32 %x %y", names=("x", "bias", "out"), local_size=(32, 2, 1)))


def compile_add(library: Library, **options: object) -> str:
    chosen = MslOptions(**options)  # pyright: ignore[reportArgumentType]
    return cross_compile(ADD, kernel_name="add", options=chosen, library=library).text


def test_the_whole_text_of_a_small_kernel(library: Library) -> None:
    source = cross_compile(
        ADD,
        kernel_name="add",
        options=MslOptions(
            compiler="Ingot 0.1.0",
            source="add.mlir:3:1",
            buffer_types=("f32[8x64]", "f32[8x64]", "f32[8x64]"),
        ),
        library=library,
    )
    assert source.text == (
        f"// add, made by Ingot 0.1.0 with SPIRV-Cross C API {library.version}\n"
        "// source: add.mlir:3:1\n"
        "// threadgroup: 32 x 2 x 1 threads, math: safe\n"
        "// buffer(0) x     read, f32[8x64]\n"
        "// buffer(1) bias  read, f32[8x64]\n"
        "// buffer(2) out   read write, f32[8x64]\n"
        "#include <metal_stdlib>\n"
        "#include <simd/simd.h>\n"
        "\n"
        "using namespace metal;\n"
        "#pragma METAL fp math_mode(safe)\n"
        "\n"
        "[[max_total_threads_per_threadgroup(64)]]\n"
        "kernel void add(\n"
        "    const device float* x [[buffer(0)]],\n"
        "    const device float* bias [[buffer(1)]],\n"
        "    device float* out [[buffer(2)]],\n"
        "    uint3 thread_position_in_grid [[thread_position_in_grid]])\n"
        "{\n"
        "    out[thread_position_in_grid.x] = "
        "x[thread_position_in_grid.x] + bias[thread_position_in_grid.x];\n"
        "}\n"
    )
    assert source.entry_point == "add"
    assert source.threadgroup_size == (32, 2, 1)
    assert source.bindings == (
        MslBinding(0, "x", "read", "float"),
        MslBinding(1, "bias", "read", "float"),
        MslBinding(2, "out", "read_write", "float"),
    )
    assert not source.argument_buffer
    assert source.push_constant_index is None
    assert source.spirv_cross_version == str(library.version)


def test_the_text_is_the_same_every_time(library: Library) -> None:
    assert compile_add(library) == compile_add(library)


def test_names_that_msl_reserves_are_changed(library: Library) -> None:
    names = ("kernel", "a.b", "__x", "\u03b1", "float", "main", "abs")
    body = "%s = OpFAdd %f32 %x %y\n%r = OpFAdd %f32 %s %x5"
    source = cross_compile(assemble(kernel(body, names=names)), kernel_name="main", library=library)
    assert source.entry_point == "main_"
    assert [x.name for x in source.bindings] == [
        "kernel_",
        "a_b",
        "x",
        "alpha",
        "float_",
        "main_1",
        "abs_",
    ]
    assert "const device float* main_1 [[buffer(5)]]," in source.text


def test_names_that_glsl_reserves_stay(library: Library) -> None:
    code = assemble(kernel("%r = OpFAdd %f32 %x %y", names=("input", "filter_", "output")))
    source = cross_compile(code, kernel_name="shared", library=library)
    assert source.entry_point == "shared"
    assert [x.name for x in source.bindings] == ["input", "filter_", "output"]


def test_equal_names_are_told_apart(library: Library) -> None:
    code = assemble(kernel("%r = OpFSub %f32 %x %y", names=("k", "k", "h")))
    source = cross_compile(code, kernel_name="k", library=library)
    assert [x.name for x in source.bindings] == ["k_1", "k_2", "h"]
    assert "h[thread_position_in_grid.x] = k_1[" in source.text


def test_a_name_like_a_builtin_does_not_clash(library: Library) -> None:
    names = ("thread_position_in_grid", "gl_GlobalInvocationID", "out")
    code = assemble(kernel("%r = OpFSub %f32 %x %y", names=names))
    source = cross_compile(code, kernel_name="k", library=library)
    assert [x.name for x in source.bindings] == [
        "thread_position_in_grid_",
        "v_gl_GlobalInvocationID",
        "out",
    ]


def many(count: int) -> bytes:
    """A kernel of `count` buffers that adds the last two it reads."""
    names = (*(f"in{n}" for n in range(count - 1)), "out")
    return assemble(kernel(f"%r = OpFAdd %f32 %x{count - 3} %x{count - 2}", names=names))


def test_31_buffers_are_arguments(library: Library) -> None:
    source = cross_compile(many(31), kernel_name="k", library=library)
    assert not source.argument_buffer
    assert "const device float* in29 [[buffer(29)]]," in source.text
    assert "device float* out [[buffer(30)]]," in source.text


def test_more_buffers_move_to_an_argument_buffer(library: Library) -> None:
    source = cross_compile(many(40), kernel_name="k", library=library)
    assert source.argument_buffer
    assert "constant Arguments& arguments [[buffer(0)]]" in source.text
    assert "[[buffer(1)]]" not in source.text
    # Unused ones keep their place.
    assert all(f"    const device float* in{n} [[id({n})]];" in source.text for n in range(39))
    assert "    device float* out [[id(39)]];" in source.text
    assert "arguments.out[thread_position_in_grid.x] = arguments.in37[" in source.text
    assert "spv" not in source.text
    assert "id(39) out " in source.text.split("#include")[0]


def test_the_buffer_limit_is_the_targets(library: Library) -> None:
    assert "[[id(2)]]" in compile_add(library, max_buffers=2)


PUSH = kernel(
    "%pn = OpAccessChain %push_i32 %push %c0\n%n = OpLoad %i32 %pn\n"
    "%f = OpConvertUToF %f32 %n\n%r = OpFAdd %f32 %x %f",
    decorations='OpName %params "Params"\nOpMemberName %params 0 "n"\n'
    "OpDecorate %params Block\nOpMemberDecorate %params 0 Offset 0",
    declarations="%params = OpTypeStruct %i32\n%push_block = OpTypePointer PushConstant %params\n"
    "%push_i32 = OpTypePointer PushConstant %i32\n%push = OpVariable %push_block PushConstant",
)


def test_push_constants_follow_the_last_binding(library: Library) -> None:
    source = cross_compile(assemble(PUSH), kernel_name="k", library=library)
    assert source.push_constant_index == 3
    assert "constant Params& push [[buffer(3)]]" in source.text


def test_push_constants_count_as_a_buffer(library: Library) -> None:
    options = MslOptions(max_buffers=3)
    source = cross_compile(assemble(PUSH), kernel_name="k", options=options, library=library)
    assert source.argument_buffer
    assert source.push_constant_index == 1
    assert "constant Params& push [[buffer(1)]]" in source.text


def test_the_math_mode_is_in_the_text(library: Library) -> None:
    assert "math_mode(safe)" in compile_add(library)
    assert "math: strict" in compile_add(library, math="strict")
    assert "#pragma METAL" not in compile_add(library, math="fast")


@pytest.mark.parametrize("version", [(3, 0), (3, 1), (3, 2)])
def test_every_msl_version_of_the_profiles_works(
    library: Library, version: tuple[int, int]
) -> None:
    assert "kernel void add(" in compile_add(library, msl_version=version)


def test_line_breaks_do_not_leave_the_header(library: Library) -> None:
    text = compile_add(library, source="a\nb.mlir:1:1")
    assert "// source: a b.mlir:1:1\n" in text


def test_bytes_that_are_not_spirv_are_refused(library: Library) -> None:
    for code in (b"", b"abcd" * 10, ADD[:-2], ADD[: len(ADD) // 2 // 4 * 4]):
        with pytest.raises(MslError, match="kernel 'k'"):
            cross_compile(code, kernel_name="k", library=library)


def test_the_length_of_a_buffer_is_refused(library: Library) -> None:
    body = "%n = OpArrayLength %i32 %b0 0\n%f = OpConvertUToF %f32 %n\n%r = OpFAdd %f32 %x %f"
    with pytest.raises(MslError, match="length of a buffer"):
        cross_compile(assemble(kernel(body)), kernel_name="k", library=library)


def test_another_descriptor_set_is_refused(library: Library) -> None:
    text = kernel("%r = OpFAdd %f32 %x %y").replace("%b1 DescriptorSet 0", "%b1 DescriptorSet 1")
    with pytest.raises(MslError, match="set 0"):
        cross_compile(assemble(text), kernel_name="k", library=library)


def test_a_shared_binding_is_refused(library: Library) -> None:
    text = kernel("%r = OpFAdd %f32 %x %y").replace("%b1 Binding 1", "%b1 Binding 0")
    with pytest.raises(MslError, match="share a binding"):
        cross_compile(assemble(text), kernel_name="k", library=library)
