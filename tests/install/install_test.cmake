# Installs a build into an empty prefix, builds the consumer against it and checks what it says.
#   cmake -DBUILD_DIR=… -DWORK_DIR=… -DCXX_COMPILER=… -DGENERATOR=… -P install_test.cmake
set(prefix ${WORK_DIR}/prefix)
set(consumer ${WORK_DIR}/consumer)
file(REMOVE_RECURSE ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}exit status ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${consumer} -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
    # Only the fresh installation may be found, not one of the machine.
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
if(NOT output STREQUAL "0 impulse 1.000000 -0.200000\n")
  message(FATAL_ERROR "the consumer said: ${output}")
endif()
if(EXISTS ${prefix}/include/stiction/app)
  message(FATAL_ERROR "the headers of the program are not part of the library")
endif()
if(HAS_APP)
  run(${prefix}/bin/stiction --help)
endif()

# The program of README.md, without CMake.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE pc_file ${prefix}/*/stiction.pc)
  get_filename_component(pc_dir ${pc_file} DIRECTORY)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} ${PKG_CONFIG} --cflags --libs stiction)
  separate_arguments(flags UNIX_COMMAND "${output}")
  file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
  string(REGEX MATCH "```cpp\n([^`]*)```" block "${readme}")
  file(WRITE ${consumer}/readme.cc "${CMAKE_MATCH_1}")
  run(${CXX_COMPILER} -std=c++20 ${consumer}/readme.cc -o ${consumer}/readme ${flags})
  run(${consumer}/readme)
  string(FIND "${readme}" "It prints `y = " prints)
  string(SUBSTRING "${output}" 0 8 said)
  if(prints EQUAL -1 OR NOT said STREQUAL "y = -1.2")
    message(FATAL_ERROR "the program of README.md, built by pkg-config, said: ${output}")
  endif()
endif()

# The tutorial programs take their time to compile: only where they are asked for.
if(WITH_TUTORIALS)
  set(tutorials ${WORK_DIR}/tutorials)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/../../examples/cpp -B ${tutorials} -G ${GENERATOR}
      -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
      -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  run(${CMAKE_COMMAND} --build ${tutorials})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${tutorials} --output-on-failure)
endif()
