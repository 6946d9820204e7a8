# Puts deadheat's library in the place of Google Benchmark, in a project that is not changed:
#
#     cmake -S . -B build -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=…/include/google_benchmark/benchmark/provider.cmake
#
# Answers find_package, FetchContent, CPM, and add_subdirectory of a copy in the project. All other packages are found as
# before. CMake older than 3.24: -Dbenchmark_DIR=…/include/google_benchmark/benchmark/cmake answers find_package.
if(CMAKE_VERSION VERSION_LESS 3.24)
  message(FATAL_ERROR "deadheat cannot replace Google Benchmark: CMake ${CMAKE_VERSION} has no dependency providers\n"
    "use CMake 3.24 or later, or -Dbenchmark_DIR=${CMAKE_CURRENT_LIST_DIR}/cmake")
endif()

set(DEADHEAT_BENCHMARK_FOLDER "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "deadheat's library with Google Benchmark's API")
foreach(name benchmark googlebenchmark google_benchmark google_benchmarks)
  string(TOUPPER ${name} upper)
  # For FetchContent_Populate, which asks no provider.
  set(FETCHCONTENT_SOURCE_DIR_${upper} "${DEADHEAT_BENCHMARK_FOLDER}" CACHE PATH "")
  set(CPM_${name}_SOURCE "${DEADHEAT_BENCHMARK_FOLDER}" CACHE PATH "")
endforeach()

# A macro, as the package sets its results in the scope of the caller.
macro(deadheat_provide_benchmark method name)
  string(TOLOWER "${name}" deadheat_name)
  if(deadheat_name MATCHES "^(google[-_]?)?benchmark$")
    include("${DEADHEAT_BENCHMARK_FOLDER}/cmake/benchmarkConfig.cmake")
    set(${name}_FOUND TRUE)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER deadheat_provide_benchmark SUPPORTED_METHODS FIND_PACKAGE)

# A copy in the project has the public header in its place, or is a submodule that was not fetched. A macro, because a
# subfolder may set variables in the scope of the caller.
macro(add_subdirectory deadheat_folder)
  get_filename_component(deadheat_path "${deadheat_folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(deadheat_name "${deadheat_path}" NAME)
  if(EXISTS "${deadheat_path}/include/benchmark/benchmark.h"
      OR "${deadheat_path}" STREQUAL "${DEADHEAT_BENCHMARK_FOLDER}"
      OR ("${deadheat_name}" MATCHES "^(google[-_]?)?benchmark$" AND NOT EXISTS "${deadheat_path}/CMakeLists.txt"))
    if(NOT TARGET benchmark)
      _add_subdirectory("${DEADHEAT_BENCHMARK_FOLDER}" "${CMAKE_BINARY_DIR}/deadheat/benchmark" EXCLUDE_FROM_ALL)
    endif()
  else()
    _add_subdirectory("${deadheat_folder}" ${ARGN})
  endif()
endmacro()
