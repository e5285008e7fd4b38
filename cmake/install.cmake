# `cmake --install` lays out headers, the library, the program and a package for find_package.
include(CMakePackageConfigHelpers)

install(TARGETS stiction EXPORT stiction-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(STICTION_BUILD_APP)
  install(TARGETS stiction_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/stiction/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stiction
        FILES_MATCHING PATTERN "*.h" PATTERN "app" EXCLUDE
        # These two see HDF5's own headers, which the package does not ask for.
        PATTERN "hdf5_handle.h" EXCLUDE PATTERN "hdf5_driver.h" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/src/stiction/scene/scene.schema.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction)

# The page of the viewer, if it was built.
install(FILES ${PROJECT_SOURCE_DIR}/build/viewer/index.html OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction/viewer)

set(stiction_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
install(EXPORT stiction-targets NAMESPACE stiction:: DESTINATION ${stiction_cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stiction-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/stiction-config.cmake INSTALL_DESTINATION ${stiction_cmake_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/stiction-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stiction-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/stiction-config-version.cmake DESTINATION ${stiction_cmake_dir})

# For builds without CMake. The library is static, so that its users link what it uses.
set(stiction_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH stiction_prefix_from_pc /prefix/${stiction_pc_dir} /prefix)
list(JOIN HDF5_C_LIBRARIES " " stiction_pc_libraries)
string(APPEND stiction_pc_libraries " -lfmt -ltinyxml2 -pthread")
configure_file(${PROJECT_SOURCE_DIR}/cmake/stiction.pc.in ${CMAKE_CURRENT_BINARY_DIR}/stiction.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stiction.pc DESTINATION ${stiction_pc_dir})
