# Which plain programs run, with which arguments.
foreach(name client_release client_fork)
  add_test(NAME plain/${name} COMMAND ${name})
  set_tests_properties(plain/${name} PROPERTIES ENVIRONMENT "${test_env}" TIMEOUT 300)
endforeach()

# Also under ThreadSanitizer; the daemon is another process.
add_test(NAME plain/client_threads COMMAND client_threads)
set_tests_properties(plain/client_threads PROPERTIES ENVIRONMENT "${test_env}" TIMEOUT 1800)

# The public header compiles alone, in C and in C++.
set(alone -fsyntax-only -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}
    -include client/pipeloader.h /dev/null)
add_test(NAME house/header_c COMMAND ${CMAKE_C_COMPILER} -x c -std=c17 -pedantic ${alone})
find_program(PL_CXX NAMES c++ g++ clang++)
if(PL_CXX)
  add_test(NAME house/header_cxx COMMAND ${PL_CXX} -x c++ -std=c++17 -pedantic ${alone})
endif()

set(einops_golden ${PROJECT_SOURCE_DIR}/tests/golden/einops)
foreach(kernels portable avx2 avx512 neon)
  add_test(NAME plain/einops_vectors_${kernels} COMMAND einops_vectors ${einops_golden}/vectors-public.txt
           ${einops_golden}/quirks-decided.txt)
  set_tests_properties(plain/einops_vectors_${kernels} PROPERTIES
      ENVIRONMENT "${test_env};PIPELOADER_KERNELS=${kernels}" TIMEOUT 300)
endforeach()
add_test(NAME plain/einops_cases COMMAND einops_cases ${einops_golden}/cases.tsv)
add_test(NAME plain/plugin_threads COMMAND plugin_threads ${PROJECT_BINARY_DIR}/tests/plugin_twice.so)
set_tests_properties(plain/plugin_threads PROPERTIES ENVIRONMENT "${test_env}" TIMEOUT 600)
add_test(NAME plain/einops_threads COMMAND einops_threads)
set_tests_properties(plain/einops_cases plain/einops_threads PROPERTIES ENVIRONMENT "${test_env}" TIMEOUT 600)
