# find_package(benchmark): the targets benchmark::benchmark and benchmark::benchmark_main. As with Google Benchmark's
# own package, a suite may have targets named `benchmark` of its own.
if(NOT TARGET benchmark::benchmark)
  set(DEADHEAT_BENCHMARK_PREFIX deadheat_)
  if(COMMAND _add_subdirectory)
    _add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/.." "${CMAKE_BINARY_DIR}/deadheat/benchmark" EXCLUDE_FROM_ALL)
  else()
    add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/.." "${CMAKE_BINARY_DIR}/deadheat/benchmark" EXCLUDE_FROM_ALL)
  endif()
  unset(DEADHEAT_BENCHMARK_PREFIX)
endif()
set(benchmark_FOUND TRUE)
