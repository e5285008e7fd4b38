# Step problems made for tests and benchmarks, and independent judges of their solutions: the helpers
# of tests/solve and dense linear algebra. Needs no GoogleTest, so that benchmarks build without it.
include_guard(GLOBAL)
file(GLOB stiction_problem_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/solve/*.cc)
list(FILTER stiction_problem_sources EXCLUDE REGEX "_test\\.cc$")
if(STICTION_SANITIZE AND DEFINED STICTION_SANITIZE_SOLVERS AND NOT STICTION_SANITIZE_SOLVERS)
  # What tests of other rooms use.
  list(FILTER stiction_problem_sources INCLUDE REGEX "/(joint|saddle_ldlt)_problems\\.cc$")
endif()
list(APPEND stiction_problem_sources ${CMAKE_CURRENT_LIST_DIR}/dense_algebra.cc)
add_library(stiction_test_problems STATIC ${stiction_problem_sources})
target_include_directories(stiction_test_problems PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(stiction_test_problems PUBLIC stiction PRIVATE stiction_settings
                      fmt::fmt)
# Eigen's decompositions of small matrices, once each: the optimizer takes longer than it saves.
if(STICTION_SANITIZE)
  target_compile_options(stiction_test_problems PRIVATE -O0)
else()
  target_compile_options(stiction_test_problems PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(stiction_test_problems REUSE_FROM stiction_files)
endif()
stiction_join_sources(stiction_test_problems 8)
