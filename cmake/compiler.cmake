# Compiler settings shared by every target of this project, as one interface library. Not exported:
# a consumer of the installed package chooses its own warnings.
add_library(stiction_settings INTERFACE)
target_compile_features(stiction_settings INTERFACE cxx_std_20)
target_compile_options(stiction_settings INTERFACE
  -Wall -Wextra -Wpedantic
  # The same operations on every machine: no fused multiply-add that only some have, no fast-math.
  -ffp-contract=off
  # What costs time and is asked by nobody: calls that a program could replace one by one (code for shared
  # libraries is not inlined otherwise, not even within a file), errno of roots, floating-point exceptions as
  # signals. The numbers are the same.
  -fno-semantic-interposition -fno-math-errno -fno-trapping-math
  # Structures are cleared by a few stores: g++ has an instruction for that which takes longer to begin
  # than these take, for every contact of every certificate.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>>:-mmemset-strategy=vector_loop:512:noalign$<COMMA>libcall:-1:noalign>
  $<$<BOOL:${STICTION_WERROR}>:-Werror>
  # g++ 12's flow analysis is wrong inside Eigen 3.4 and libstdc++ strings at -O3 (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict
    -Wno-stringop-overflow -Wno-stringop-overread>
  # Its garbage collector runs below 128 MB already, and with Eigen finds little: 8 % of the time for 14 %
  # less memory. The objects are the same.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=1000 --param=ggc-min-heapsize=800000>)
if(STICTION_SANITIZE)
  target_compile_options(stiction_settings INTERFACE
    -fsanitize=${STICTION_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(stiction_settings INTERFACE -fsanitize=${STICTION_SANITIZE})
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
