"""Contexts, compilers and reflection on every SPIRV-Cross that is there."""

from __future__ import annotations

import gc

import pytest
from unit.pyspirv.assembly import assemble, kernel

from ingot.targets import pyspirv
from ingot.targets.pyspirv import Backend, BaseType, Decoration, MslResourceBinding, Option

ADD = assemble(kernel("%r = OpFAdd %f32 %x %y", names=("left", "right", "sum")))


def test_reflection_lists_buffers_with_their_access(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        buffers = context.compiler(ADD, Backend.REFLECTION).resources().storage_buffers
        assert [(x.name, x.descriptor_set, x.binding) for x in buffers] == [
            ("left", 0, 0),
            ("right", 0, 1),
            ("sum", 0, 2),
        ]
        assert [(x.readable, x.writable) for x in buffers] == [
            (True, False),
            (True, False),
            (True, True),
        ]


def test_reflection_reads_types(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(assemble(kernel("%r = OpFAdd %f16x4 %x %y", element="f16x4")))
        block = compiler.resources().storage_buffers[0].type
        (member,) = block.members
        assert (member.base, member.bits, member.vector_size) == (BaseType.FP16, 16, 4)
        assert member.array == (0,)
        assert block.member_offset(0) == 0
        assert block.member_array_stride(0) == 8
        assert block.size == 0


def test_entry_points_and_workgroup_size(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        code = assemble(kernel("%r = OpCopyObject %f32 %x", entry="go", local_size=(8, 4, 2)))
        compiler = context.compiler(code)
        assert [x.name for x in compiler.entry_points()] == ["go"]
        assert compiler.workgroup_size() == (8, 4, 2)
        assert compiler.resources().builtin_inputs


def test_names_and_decorations_can_be_changed(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(ADD)
        buffer = compiler.resources().storage_buffers[0]
        compiler.set_name(buffer.id, "weights")
        assert compiler.name(buffer.id) == "weights"
        compiler.set_decoration(buffer.id, Decoration.BINDING, 7)
        assert compiler.decoration(buffer.id, Decoration.BINDING) == 7
        compiler.unset_decoration(buffer.id, Decoration.BINDING)
        assert compiler.decoration(buffer.id, Decoration.BINDING) is None


def test_msl_uses_the_bindings_it_is_given(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(ADD)
        compiler.install({Option.MSL_VERSION: pyspirv.msl_version(3, 1)})
        for binding in range(3):
            compiler.add_msl_resource_binding(
                MslResourceBinding(0, binding, msl_buffer=10 + binding)
            )
        compiler.rename_entry_point("main", "add")
        text = compiler.compile()
        assert "kernel void add(" in text
        assert all(f"[[buffer({10 + binding})]]" in text for binding in range(3))
        assert all(compiler.msl_resource_used(0, binding) for binding in range(3))
        assert compiler.cleansed_entry_point("add") == "add"


def test_glsl_is_written_too(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(ADD, Backend.GLSL)
        options = compiler.options()
        options.set("glsl_version", 450)
        options.set("glsl_vulkan_semantics", True)
        compiler.install(options)
        assert compiler.compile().startswith("#version 450")


def test_one_module_makes_several_compilers(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        module = context.parse(ADD)
        first, second = module.compiler(Backend.GLSL), module.compiler(Backend.MSL)
        assert "#version" in first.compile()
        assert "metal_stdlib" in second.compile()


def test_a_module_is_taken_once(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        module = context.parse(ADD)
        module.compiler(mode=pyspirv.CaptureMode.TAKE_OWNERSHIP)
        with pytest.raises(pyspirv.InvalidArgument, match="already"):
            module.compiler()


@pytest.mark.parametrize("code", [b"", ADD[:-3], b"\0" * 40, ADD[:60] + b"\0" * 4])
def test_what_is_not_spirv_is_refused(library: pyspirv.Library, code: bytes) -> None:
    with pyspirv.Context(library) as context, pytest.raises(pyspirv.InvalidSpirv):
        context.compiler(code)


def test_errors_carry_the_message_of_spirv_cross(library: pyspirv.Library) -> None:
    heard: list[str] = []
    with pyspirv.Context(library, on_error=heard.append) as context:
        code = kernel("%r = OpGroupNonUniformFAdd %f32 %c3 Reduce %x")
        compiler = context.compiler(assemble(code))
        compiler.install({Option.MSL_VERSION: pyspirv.msl_version(1, 0)})
        with pytest.raises(pyspirv.UnsupportedSpirv, match=r"in Metal 2\.0") as error:
            compiler.compile()
    assert heard == [str(error.value)]


def test_an_unknown_option_is_refused(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        options = context.compiler(ADD).options()
        with pytest.raises(pyspirv.InvalidArgument, match="no option named 'msl_magic'"):
            options.set("msl_magic", 1)
        with pytest.raises(pyspirv.InvalidArgument):
            options.set(Option.GLSL_VERSION, 450)


def test_arrays_of_resources_need_a_newer_library(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(ADD)
        binding = MslResourceBinding(0, 0, msl_buffer=0, count=4)
        if library.has("spvc_compiler_msl_add_resource_binding_2"):
            compiler.add_msl_resource_binding(binding)
        else:
            with pytest.raises(pyspirv.InvalidArgument, match="array of 4"):
                compiler.add_msl_resource_binding(binding)


def test_a_closed_context_refuses_its_objects(library: pyspirv.Library) -> None:
    with pyspirv.Context(library) as context:
        compiler = context.compiler(ADD)
    with pytest.raises(pyspirv.ClosedError):
        compiler.compile()
    context.close()


def test_objects_keep_their_context_alive(library: pyspirv.Library) -> None:
    compiler = pyspirv.Context(library).compiler(ADD)
    gc.collect()
    assert "kernel void" in compiler.compile()


def test_a_dropped_context_frees_itself(library: pyspirv.Library) -> None:
    for _ in range(50):
        pyspirv.Context(library).compiler(ADD).compile()
    gc.collect()
