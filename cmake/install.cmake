# The library, its headers, the program and a CMake package: find_package(volvelle) gives
# volvelle::volvelle.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/volvelle)

install(TARGETS volvelle EXPORT volvelle
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT volvelle NAMESPACE volvelle:: DESTINATION ${package_folder})

get_target_property(volvelle_kind volvelle TYPE)
configure_package_config_file(cmake/volvelleConfig.cmake.in ${PROJECT_BINARY_DIR}/volvelleConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/volvelleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/volvelleConfig.cmake ${PROJECT_BINARY_DIR}/volvelleConfigVersion.cmake
  DESTINATION ${package_folder})

if(TARGET volvelle_program)
  install(TARGETS volvelle_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
