# Build rules of the house: one static library a layer, modules, tests, and the list of what is lost.

set(STEPCOST_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wswitch-enum
    -Wno-missing-field-initializers) # rows of tables leave out what is zero

# The git revision goes into every record; a tarball build says "unknown".
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE STEPCOST_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT STEPCOST_REVISION)
  set(STEPCOST_REVISION unknown)
endif()

# One function for several vector widths, chosen when it is loaded. clang 14 accepts the attribute and then
# mangles static functions; sanitizers break the choosing.
include(CheckCSourceCompiles)
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT STEPCOST_SANITIZE)
  check_c_source_compiles("
    __attribute__((target_clones(\"avx512f\", \"avx2\", \"default\"))) static int f(int x) { return x + 1; }
    int main(int argc, char **argv) { (void)argv; return f(argc); }" STEPCOST_TARGET_CLONES)
endif()

# Compile flags that every target of ours gets.
function(stepcost_flags target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE $<$<BOOL:${STEPCOST_TARGET_CLONES}>:STEPCOST_TARGET_CLONES>)
  target_compile_options(${target} PRIVATE ${STEPCOST_WARNINGS})
  if(STEPCOST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(STEPCOST_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${STEPCOST_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${STEPCOST_SANITIZE})
  endif()
endfunction()

# stepcost_need(NAME HEADER PACKAGE): the library as target stepcost::NAME; without it there is no build.
function(stepcost_need name header package)
  string(TOUPPER ${name} upper)
  find_library(${upper}_LIBRARY ${name})
  find_path(${upper}_INCLUDE ${header})
  if(NOT ${upper}_LIBRARY OR NOT ${upper}_INCLUDE)
    message(FATAL_ERROR "${name} is needed and not here: sudo apt-get install ${package}")
  endif()
  add_library(stepcost::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(stepcost::${name} PROPERTIES INTERFACE_LINK_LIBRARIES ${${upper}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${${upper}_INCLUDE})
endfunction()

# stepcost_layer(NAME SOURCES a.c b.c USES lower_layer library)
function(stepcost_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;USES" ${ARGN})
  add_library(${name} STATIC ${L_SOURCES})
  stepcost_flags(${name})
  target_link_libraries(${name} PUBLIC ${L_USES})
endfunction()

# A backend with dependencies: stepcost-NAME.so beside the program, opened with dlopen.
function(stepcost_module name)
  cmake_parse_arguments(M "" "" "SOURCES;USES" ${ARGN})
  add_library(stepcost-${name} MODULE ${M_SOURCES})
  stepcost_flags(stepcost-${name})
  target_link_libraries(stepcost-${name} PRIVATE ${M_USES})
  set_target_properties(stepcost-${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    C_VISIBILITY_PRESET hidden)
  stepcost_carry(${name} stepcost-${name}.so)
endfunction()

# stepcost_carry(MODULE FILE...): what a bundle carries for this module: itself, and every library that it opens by
# name when it runs. What these are linked to follows by itself; what belongs to the machine (a driver) is never named.
set_property(GLOBAL PROPERTY STEPCOST_CARRIED "")
function(stepcost_carry module)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND_STRING PROPERTY STEPCOST_CARRIED "${module} ${file}\n")
  endforeach()
endfunction()
function(stepcost_write_carried)
  get_property(carried GLOBAL PROPERTY STEPCOST_CARRIED)
  file(WRITE ${CMAKE_BINARY_DIR}/carried "${carried}")
endfunction()

# stepcost_test(NAME base/test_x SOURCES x.c USES layer LABELS unit)
function(stepcost_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  add_executable(${target} ${T_SOURCES})
  stepcost_flags(${target})
  target_link_libraries(${target} PRIVATE ${T_USES} cmocka m)
  target_compile_definitions(${target} PRIVATE TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data"
    STEPCOST_PROGRAM="$<TARGET_FILE:stepcost>")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${target})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
endfunction()

# What this build does without, and how to get it: printed last, and by `stepcost list`.
set_property(GLOBAL PROPERTY STEPCOST_LOSSES "")
function(stepcost_loss text)
  set_property(GLOBAL APPEND PROPERTY STEPCOST_LOSSES "${text}")
endfunction()
function(stepcost_print_losses)
  get_property(losses GLOBAL PROPERTY STEPCOST_LOSSES)
  foreach(loss IN LISTS losses)
    message(STATUS "without: ${loss}")
  endforeach()
endfunction()

# stepcost_embed(TARGET NAME=FILE...): the files' bytes as rows of a table (model/data.c reads it).
function(stepcost_embed target)
  set(asm "")
  set(files "")
  set(rows "")
  set(index 0)
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${pair}")
    set(name "${CMAKE_MATCH_1}")
    set(file "${CMAKE_MATCH_2}")
    string(APPEND asm "EMBED(${index}, \"${file}\")\n")
    string(APPEND rows "    {\"${name}\", embed_${index}, embed_end_${index}},\n")
    list(APPEND files "${file}")
    math(EXPR index "${index} + 1")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded.c)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded.c.in ${out} @ONLY)
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE ${out})
endfunction()
