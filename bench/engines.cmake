# Other engines to compare with, each as a target stiction_engine_<name> where its Debian package is
# installed. Included by every benchmark that has them as contenders; none of them is needed.
option(STICTION_BENCH_PEERS "Compare with other engines where they are installed" ON)

function(stiction_add_engine name)
  cmake_parse_arguments(arg "" "" "INCLUDES;DEFINITIONS;LIBRARIES" ${ARGN})
  if(TARGET stiction_engine_${name})
    return()
  endif()
  foreach(part ${arg_INCLUDES} ${arg_LIBRARIES})
    if(NOT part)  # something-NOTFOUND
      set(is_missing TRUE)
    endif()
  endforeach()
  if(is_missing OR NOT STICTION_BENCH_PEERS)
    message(STATUS "Benchmarks: without ${name}")
    return()
  endif()
  message(STATUS "Benchmarks: with ${name}")
  add_library(stiction_engine_${name} INTERFACE)
  target_include_directories(stiction_engine_${name} SYSTEM INTERFACE ${arg_INCLUDES})
  target_compile_definitions(stiction_engine_${name} INTERFACE ${arg_DEFINITIONS})
  target_link_libraries(stiction_engine_${name} INTERFACE ${arg_LIBRARIES})
endfunction()

find_path(ODE_INCLUDE_DIR ode/ode.h)
find_library(ODE_LIBRARY ode)
mark_as_advanced(ODE_INCLUDE_DIR ODE_LIBRARY)
stiction_add_engine(ode INCLUDES ${ODE_INCLUDE_DIR} LIBRARIES ${ODE_LIBRARY})

# Bullet in double precision. Its own CMake package has single precision first.
find_path(BULLET_INCLUDE_DIR btBulletDynamicsCommon.h PATH_SUFFIXES bullet)
find_library(BULLET_DYNAMICS BulletDynamics-float64)
find_library(BULLET_COLLISION BulletCollision-float64)
find_library(BULLET_MATH LinearMath-float64)
mark_as_advanced(BULLET_INCLUDE_DIR BULLET_DYNAMICS BULLET_COLLISION BULLET_MATH)
stiction_add_engine(bullet INCLUDES ${BULLET_INCLUDE_DIR} DEFINITIONS BT_USE_DOUBLE_PRECISION
                    LIBRARIES ${BULLET_DYNAMICS} ${BULLET_COLLISION} ${BULLET_MATH})

find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY mujoco)
mark_as_advanced(MUJOCO_INCLUDE_DIR MUJOCO_LIBRARY)
stiction_add_engine(mujoco INCLUDES ${MUJOCO_INCLUDE_DIR} LIBRARIES ${MUJOCO_LIBRARY})

# DART with the collision detector of ODE, the one of its four that gives face contacts of boxes and
# knows capsules.
find_path(DART_INCLUDE_DIR dart/dart.hpp)
find_path(DART_ODE_INCLUDE_DIR dart/collision/ode/ode.hpp)
find_library(DART_LIBRARY dart)
find_library(DART_ODE_LIBRARY dart-collision-ode)
mark_as_advanced(DART_INCLUDE_DIR DART_ODE_INCLUDE_DIR DART_LIBRARY DART_ODE_LIBRARY)
stiction_add_engine(dart INCLUDES ${DART_INCLUDE_DIR} ${DART_ODE_INCLUDE_DIR}
                    LIBRARIES ${DART_LIBRARY} ${DART_ODE_LIBRARY})
