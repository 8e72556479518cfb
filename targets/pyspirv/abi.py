"""The C declarations: structures, handles and prototypes of the functions that are bound.

Handles are opaque pointers (`c_void_p`); strings that come back belong to the context.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_void_p
from typing import Any

ErrorCallback = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


class ReflectedResource(ctypes.Structure):
    """`spvc_reflected_resource`."""

    _fields_ = (
        ("id", c_uint),
        ("base_type_id", c_uint),
        ("type_id", c_uint),
        ("name", c_char_p),
    )


class ReflectedBuiltin(ctypes.Structure):
    """`spvc_reflected_builtin_resource`."""

    _fields_ = (
        ("builtin", c_int),
        ("value_type_id", c_uint),
        ("resource", ReflectedResource),
    )


class EntryPointStruct(ctypes.Structure):
    """`spvc_entry_point`."""

    _fields_ = (("execution_model", c_int), ("name", c_char_p))


class SpecializationConstantStruct(ctypes.Structure):
    """`spvc_specialization_constant`."""

    _fields_ = (("id", c_uint), ("constant_id", c_uint))


class MslBindingStruct(ctypes.Structure):
    """`spvc_msl_resource_binding` (API before 0.65; kept by later ones)."""

    _fields_ = (
        ("stage", c_int),
        ("desc_set", c_uint),
        ("binding", c_uint),
        ("msl_buffer", c_uint),
        ("msl_texture", c_uint),
        ("msl_sampler", c_uint),
    )


class MslBindingStruct2(ctypes.Structure):
    """`spvc_msl_resource_binding_2`, which adds the length of an array of resources."""

    _fields_ = (
        ("stage", c_int),
        ("desc_set", c_uint),
        ("binding", c_uint),
        ("count", c_uint),
        ("msl_buffer", c_uint),
        ("msl_texture", c_uint),
        ("msl_sampler", c_uint),
    )


Prototype = tuple[Any, tuple[Any, ...]]
"""Result type and argument types."""

_UINT_P = POINTER(c_uint)
_SIZE_P = POINTER(c_size_t)
_HANDLE_P = POINTER(c_void_p)
_RESULT = c_int

REQUIRED: dict[str, Prototype] = {
    "spvc_get_version": (None, (_UINT_P, _UINT_P, _UINT_P)),
    "spvc_get_commit_revision_and_timestamp": (c_char_p, ()),
    "spvc_context_create": (_RESULT, (_HANDLE_P,)),
    "spvc_context_destroy": (None, (c_void_p,)),
    "spvc_context_get_last_error_string": (c_char_p, (c_void_p,)),
    "spvc_context_set_error_callback": (None, (c_void_p, ErrorCallback, c_void_p)),
    "spvc_context_parse_spirv": (_RESULT, (c_void_p, c_char_p, c_size_t, _HANDLE_P)),
    "spvc_context_create_compiler": (_RESULT, (c_void_p, c_int, c_void_p, c_int, _HANDLE_P)),
    "spvc_compiler_create_compiler_options": (_RESULT, (c_void_p, _HANDLE_P)),
    "spvc_compiler_options_set_bool": (_RESULT, (c_void_p, c_int, c_ubyte)),
    "spvc_compiler_options_set_uint": (_RESULT, (c_void_p, c_int, c_uint)),
    "spvc_compiler_install_compiler_options": (_RESULT, (c_void_p, c_void_p)),
    "spvc_compiler_compile": (_RESULT, (c_void_p, POINTER(c_char_p))),
    "spvc_compiler_add_header_line": (_RESULT, (c_void_p, c_char_p)),
    "spvc_compiler_get_current_id_bound": (c_uint, (c_void_p,)),
    # Entry points.
    "spvc_compiler_get_entry_points": (
        _RESULT,
        (c_void_p, POINTER(POINTER(EntryPointStruct)), _SIZE_P),
    ),
    "spvc_compiler_set_entry_point": (_RESULT, (c_void_p, c_char_p, c_int)),
    "spvc_compiler_rename_entry_point": (_RESULT, (c_void_p, c_char_p, c_char_p, c_int)),
    "spvc_compiler_get_cleansed_entry_point_name": (c_char_p, (c_void_p, c_char_p, c_int)),
    "spvc_compiler_get_execution_modes": (_RESULT, (c_void_p, POINTER(POINTER(c_int)), _SIZE_P)),
    "spvc_compiler_get_execution_mode_argument_by_index": (c_uint, (c_void_p, c_int, c_uint)),
    "spvc_compiler_get_work_group_size_specialization_constants": (
        c_uint,
        (c_void_p, *(POINTER(SpecializationConstantStruct),) * 3),
    ),
    "spvc_compiler_get_constant_handle": (c_void_p, (c_void_p, c_uint)),
    "spvc_constant_get_scalar_u32": (c_uint, (c_void_p, c_uint, c_uint)),
    # Names and decorations.
    "spvc_compiler_get_name": (c_char_p, (c_void_p, c_uint)),
    "spvc_compiler_set_name": (None, (c_void_p, c_uint, c_char_p)),
    "spvc_compiler_get_member_name": (c_char_p, (c_void_p, c_uint, c_uint)),
    "spvc_compiler_set_member_name": (None, (c_void_p, c_uint, c_uint, c_char_p)),
    "spvc_compiler_has_decoration": (c_ubyte, (c_void_p, c_uint, c_int)),
    "spvc_compiler_get_decoration": (c_uint, (c_void_p, c_uint, c_int)),
    "spvc_compiler_set_decoration": (None, (c_void_p, c_uint, c_int, c_uint)),
    "spvc_compiler_unset_decoration": (None, (c_void_p, c_uint, c_int)),
    "spvc_compiler_has_member_decoration": (c_ubyte, (c_void_p, c_uint, c_uint, c_int)),
    "spvc_compiler_get_member_decoration": (c_uint, (c_void_p, c_uint, c_uint, c_int)),
    "spvc_compiler_get_buffer_block_decorations": (
        _RESULT,
        (c_void_p, c_uint, POINTER(POINTER(c_int)), _SIZE_P),
    ),
    # Resources and types.
    "spvc_compiler_get_active_interface_variables": (_RESULT, (c_void_p, _HANDLE_P)),
    "spvc_compiler_set_enabled_interface_variables": (_RESULT, (c_void_p, c_void_p)),
    "spvc_compiler_create_shader_resources": (_RESULT, (c_void_p, _HANDLE_P)),
    "spvc_compiler_create_shader_resources_for_active_variables": (
        _RESULT,
        (c_void_p, _HANDLE_P, c_void_p),
    ),
    "spvc_resources_get_resource_list_for_type": (
        _RESULT,
        (c_void_p, c_int, POINTER(POINTER(ReflectedResource)), _SIZE_P),
    ),
    "spvc_resources_get_builtin_resource_list_for_type": (
        _RESULT,
        (c_void_p, c_int, POINTER(POINTER(ReflectedBuiltin)), _SIZE_P),
    ),
    "spvc_compiler_get_type_handle": (c_void_p, (c_void_p, c_uint)),
    "spvc_type_get_base_type_id": (c_uint, (c_void_p,)),
    "spvc_type_get_basetype": (c_int, (c_void_p,)),
    "spvc_type_get_bit_width": (c_uint, (c_void_p,)),
    "spvc_type_get_vector_size": (c_uint, (c_void_p,)),
    "spvc_type_get_columns": (c_uint, (c_void_p,)),
    "spvc_type_get_num_array_dimensions": (c_uint, (c_void_p,)),
    "spvc_type_get_array_dimension": (c_uint, (c_void_p, c_uint)),
    "spvc_type_get_num_member_types": (c_uint, (c_void_p,)),
    "spvc_type_get_member_type": (c_uint, (c_void_p, c_uint)),
    "spvc_type_get_storage_class": (c_int, (c_void_p,)),
    "spvc_compiler_get_declared_struct_size": (_RESULT, (c_void_p, c_void_p, _SIZE_P)),
    "spvc_compiler_type_struct_member_offset": (_RESULT, (c_void_p, c_void_p, c_uint, _UINT_P)),
    "spvc_compiler_type_struct_member_array_stride": (
        _RESULT,
        (c_void_p, c_void_p, c_uint, _UINT_P),
    ),
    # MSL.
    "spvc_msl_resource_binding_init": (None, (POINTER(MslBindingStruct),)),
    "spvc_compiler_msl_add_resource_binding": (_RESULT, (c_void_p, POINTER(MslBindingStruct))),
    "spvc_compiler_msl_is_resource_used": (c_ubyte, (c_void_p, c_int, c_uint, c_uint)),
    "spvc_compiler_msl_needs_buffer_size_buffer": (c_ubyte, (c_void_p,)),
    "spvc_compiler_msl_add_discrete_descriptor_set": (_RESULT, (c_void_p, c_uint)),
    "spvc_compiler_msl_set_argument_buffer_device_address_space": (
        _RESULT,
        (c_void_p, c_uint, c_ubyte),
    ),
    "spvc_compiler_msl_get_automatic_resource_binding": (c_uint, (c_void_p, c_uint)),
}
"""Present since API 0.54 (SPIRV-Cross 1.3.239)."""

OPTIONAL: dict[str, Prototype] = {
    "spvc_msl_resource_binding_init_2": (None, (POINTER(MslBindingStruct2),)),
    "spvc_compiler_msl_add_resource_binding_2": (_RESULT, (c_void_p, POINTER(MslBindingStruct2))),
}
"""Newer than 1.3.239: used where they are found."""
