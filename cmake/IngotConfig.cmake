# find_package(Ingot) finds this file in the prefix that Ingot was installed to, or in Ingot_DIR
# (`ingot --cmake-dir` prints it). It defines
#
#   ingot_add_bundle(NAME SRC file.mlir... TARGETS metal:apple7 vulkan:generic
#                    [EMBED] [DEPENDS file...] [OPTIONS --math strict ...])
#
#     A target NAME that compiles SRC to NAME.ingot in the build folder, again when SRC changes; the
#     functions of several files go into one bundle. The property INGOT_BUNDLE of the target is the
#     path of the bundle. With EMBED, NAME is a library to link: it holds the bundle as
#     `NAME_bundle`, and `NAME.h` has typed functions.
#
#   Ingot::runtime   the C library, from its sources; Ingot::vulkan and, on Apple's systems,
#                    Ingot::metal, its callbacks for devices

cmake_minimum_required(VERSION 3.20)

get_filename_component(_ingot_prefix "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
find_program(INGOT_EXECUTABLE ingot
  HINTS "${_ingot_prefix}/../../bin" "${_ingot_prefix}/../../Scripts" "${_ingot_prefix}/.venv/bin"
  DOC "The ingot command")
if(NOT INGOT_EXECUTABLE)
  set(Ingot_FOUND FALSE)
  set(Ingot_NOT_FOUND_MESSAGE "the ingot command was not found: pip install ingot-compiler")
  return()
endif()

if(NOT DEFINED INGOT_EMBED_DIR)
  execute_process(COMMAND "${INGOT_EXECUTABLE}" --embed-dir
    OUTPUT_VARIABLE INGOT_EMBED_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()

if(NOT TARGET Ingot::runtime)
  file(GLOB _ingot_sources "${INGOT_EMBED_DIR}/*.c")
  add_library(ingot_runtime STATIC EXCLUDE_FROM_ALL ${_ingot_sources})
  target_include_directories(ingot_runtime PUBLIC "${INGOT_EMBED_DIR}/include")
  target_compile_features(ingot_runtime PUBLIC c_std_11)
  add_library(Ingot::runtime ALIAS ingot_runtime)
  find_package(Vulkan QUIET)
  if(Vulkan_FOUND)
    file(GLOB _ingot_sources "${INGOT_EMBED_DIR}/vulkan/*.c")
    add_library(ingot_vulkan STATIC EXCLUDE_FROM_ALL ${_ingot_sources})
    target_include_directories(ingot_vulkan PUBLIC "${INGOT_EMBED_DIR}/vulkan")
    target_link_libraries(ingot_vulkan PUBLIC ingot_runtime Vulkan::Vulkan)
    add_library(Ingot::vulkan ALIAS ingot_vulkan)
  endif()
  if(APPLE)
    enable_language(OBJC)
    add_library(ingot_metal STATIC EXCLUDE_FROM_ALL "${INGOT_EMBED_DIR}/metal/ingot_metal.m")
    target_include_directories(ingot_metal PUBLIC "${INGOT_EMBED_DIR}/metal/include")
    target_link_libraries(ingot_metal PUBLIC ingot_runtime "-framework Metal" "-framework Foundation")
    add_library(Ingot::metal ALIAS ingot_metal)
  endif()
endif()

function(ingot_add_bundle name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED" "" "SRC;TARGETS;DEPENDS;OPTIONS")
  if(NOT arg_SRC OR NOT arg_TARGETS)
    message(FATAL_ERROR "ingot_add_bundle(${name}) needs SRC and TARGETS")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ingot_add_bundle(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(sources)
  foreach(file IN LISTS arg_SRC)
    get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${file}")
  endforeach()
  set(bundle "${CMAKE_CURRENT_BINARY_DIR}/${name}.ingot")
  set(words)
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND words --target "${target}")
  endforeach()
  list(APPEND words ${arg_OPTIONS})
  set(outputs "${bundle}")
  set(embed)
  if(arg_EMBED)
    set(embed --embed "${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle.c")
    list(APPEND outputs "${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle.c")
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND "${INGOT_EXECUTABLE}" compile ${sources} -o "${bundle}" ${words} ${embed}
      --name "${name}" -MF "${bundle}.d"
    DEPENDS ${sources} ${arg_DEPENDS} DEPFILE "${bundle}.d"
    COMMENT "Compiling ${name}.ingot" VERBATIM)
  if(arg_EMBED)
    set(header "${CMAKE_CURRENT_BINARY_DIR}/${name}.h")
    add_custom_command(OUTPUT "${header}"
      COMMAND "${INGOT_EXECUTABLE}" compile ${sources} -o "${header}" ${words} --emit c-header
        --name "${name}"
      DEPENDS ${sources} ${arg_DEPENDS} COMMENT "Writing ${name}.h" VERBATIM)
    add_library(${name} STATIC "${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle.c" "${header}")
    target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
    target_link_libraries(${name} PUBLIC Ingot::runtime)
  else()
    add_custom_target(${name} ALL DEPENDS "${bundle}")
  endif()
  set_target_properties(${name} PROPERTIES INGOT_BUNDLE "${bundle}")
endfunction()
