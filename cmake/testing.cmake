include(GoogleTest)

# chipweave_add_test(name SOURCES a.cpp… LIBS lib… [LABELS unit tsan …]): one GoogleTest program, one ctest entry per case.
function(chipweave_add_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE chipweave_options ${T_LIBS} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE
    CHIPWEAVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    CHIPWEAVE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${T_LABELS}" TIMEOUT 120)
endfunction()
