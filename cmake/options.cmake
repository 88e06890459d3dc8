option(VOLVELLE_BUILD_PROGRAM "Build the volvelle program" ${PROJECT_IS_TOP_LEVEL})
option(VOLVELLE_BUILD_TESTS "Build the tests when their libraries are found" ${PROJECT_IS_TOP_LEVEL})
option(VOLVELLE_BUILD_FUZZ "Build the fuzz targets (clang)" OFF)
set(VOLVELLE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
