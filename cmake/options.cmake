# Language level, warnings, hardening and sanitizers, carried by one INTERFACE target; nothing is set directory-wide.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CHIPWEAVE_CCACHE ccache)
if(CHIPWEAVE_CCACHE)
  # What ccache needs for the tests' precompiled headers (its manual, "Precompiled headers").
  set(ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CHIPWEAVE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()

add_library(chipweave_options INTERFACE)
target_compile_features(chipweave_options INTERFACE cxx_std_20)
target_compile_options(chipweave_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports overlapping memcpy inside std::string operator+ at -O2 where there is none (GCC bug 105329).
  target_compile_options(chipweave_options INTERFACE -Wno-restrict)
  if(CMAKE_UNITY_BUILD)
    # A type of a .cpp's own is no longer in the main file then, so g++ takes it for one of a header.
    target_compile_options(chipweave_options INTERFACE -Wno-subobject-linkage)
  endif()
endif()
# Processors with fused multiply-add would round otherwise than amd64, and the solver's answers shall not depend on the
# machine. amd64's baseline has none; there the flag would only make compiler caches miss.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_compile_options(chipweave_options INTERFACE -ffp-contract=off)
endif()
target_compile_definitions(chipweave_options INTERFACE _GLIBCXX_ASSERTIONS)
target_include_directories(chipweave_options INTERFACE ${PROJECT_SOURCE_DIR})

if(CHIPWEAVE_SANITIZE)
  target_compile_options(chipweave_options INTERFACE -fsanitize=${CHIPWEAVE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(chipweave_options INTERFACE -fsanitize=${CHIPWEAVE_SANITIZE})
  if(CHIPWEAVE_SANITIZE MATCHES "undefined")
    target_compile_options(chipweave_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
  if(CHIPWEAVE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(chipweave_options INTERFACE -Wno-tsan)
  endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(chipweave_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(chipweave_options INTERFACE -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    target_compile_options(chipweave_options INTERFACE -mbranch-protection=standard)
  endif()
  target_link_options(chipweave_options INTERFACE -Wl,-z,relro,-z,now -pie)
endif()
# Line tables only, unless one debugs: full debug info doubles link time and disk use on small machines.
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
if(CHIPWEAVE_SANITIZE)
  string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")
endif()

# chipweave_library(name FOLDER-RELATIVE-SOURCES...): a static library of one folder with the project's options.
function(chipweave_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC chipweave_options)
  if(CHIPWEAVE_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# chipweave_busy_in_tests(TARGETS...): code in which the tests spend most of their time; sanitizer runs would take minutes more.
function(chipweave_busy_in_tests)
  if(CHIPWEAVE_SANITIZE)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O1)
    endforeach()
  endif()
endfunction()

# chipweave_off_hot_path(TARGETS...): code in which no program spends time that anybody waits for. -O1 takes a quarter
# less to compile; what benchmarks measure is built with -O2.
function(chipweave_off_hot_path)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O1)
    endforeach()
  endif()
endfunction()
