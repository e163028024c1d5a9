include(GoogleTest)

# One target a label (chipweave_tests_unit, chipweave_tests_tsan …) builds the programs that carry it and nothing
# else: the sanitizer runs of .ci/run use them.
function(chipweave_label_target name)
  foreach(label IN LISTS ARGN)
    if(NOT TARGET chipweave_tests_${label})
      add_custom_target(chipweave_tests_${label})
    endif()
    add_dependencies(chipweave_tests_${label} ${name})
  endforeach()
endfunction()

# The one-shot builds parse what nearly every test includes once. `dev` compiles file by file and without this, so that
# each file includes what it uses. Not for the programs: with precompiled headers g++ 12 no longer suppresses its false
# reports from inside std::string, so tests do without those two warnings.
set(CHIPWEAVE_PRECOMPILED ${CMAKE_UNITY_BUILD})

# chipweave_quick_to_build(target): what the programs' speed does not depend on is built for those who wait for it.
function(chipweave_quick_to_build target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${target} PRIVATE -O1 -g0)
  endif()
endfunction()

# chipweave_test_code(target): likewise, with the precompiled headers of the tests.
function(chipweave_test_code target)
  chipweave_quick_to_build(${target})
  if(CHIPWEAVE_PRECOMPILED)
    target_compile_options(${target} PRIVATE -fPIC -pthread  # the same for all, as compilers demand
      "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overflow>"
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_link_libraries(${target} PRIVATE GTest::gtest)  # for its definitions
    if(NOT target STREQUAL "chipweave_test_headers")
      target_precompile_headers(${target} REUSE_FROM chipweave_test_headers)
    endif()
  endif()
endfunction()

if(CHIPWEAVE_PRECOMPILED)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")
  add_library(chipweave_test_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(chipweave_test_headers PRIVATE chipweave_options GTest::gmock)
  chipweave_test_code(chipweave_test_headers)
  target_precompile_headers(chipweave_test_headers PRIVATE
    <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector> <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
endif()

# chipweave_add_test(name SOURCES a.cpp… LIBS lib… [LABELS unit tsan …] [COST seconds]): one GoogleTest program, one ctest
# entry per case. Under sanitizers it is one entry for the whole program, since starting one takes longer there than most
# cases. ctest begins with the highest COST: about how many seconds the longest entry takes, under sanitizers the program.
function(chipweave_add_test name)
  cmake_parse_arguments(T "" "COST" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE chipweave_options ${T_LIBS} chipweave_test_support GTest::gtest_main GTest::gmock)
  chipweave_test_code(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  chipweave_label_target(${name} ${T_LABELS})
  if(CHIPWEAVE_SANITIZE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT 900 COST 0${T_COST})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
  # The discovery script flattens lists, so several labels have to be set after it has run (by ctest, from a file).
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake @ONLY CONTENT
    "if(@name@_TESTS)\n  set_tests_properties(\${@name@_TESTS} PROPERTIES LABELS \"@T_LABELS@\" COST 0@T_COST@)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
endfunction()
