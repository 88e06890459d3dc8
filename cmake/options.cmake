option(VOLVELLE_BUILD_PROGRAM "Build the volvelle program" ${PROJECT_IS_TOP_LEVEL})
option(VOLVELLE_BUILD_TESTS "Build the tests when their libraries are found" ${PROJECT_IS_TOP_LEVEL})
option(VOLVELLE_BUILD_FUZZ "Build the fuzz targets (clang)" OFF)
option(VOLVELLE_INSTALL "Make install rules and the CMake package" ${PROJECT_IS_TOP_LEVEL})
set(VOLVELLE_TEST_FILES "" CACHE STRING "Build only test files whose path matches this expression")
set(VOLVELLE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The program and the tests reach into the library's insides, which a shared library hides.
if(BUILD_SHARED_LIBS AND (VOLVELLE_BUILD_PROGRAM OR VOLVELLE_BUILD_TESTS))
  message(STATUS "A shared library is built alone: without the program and the tests")
  set(VOLVELLE_BUILD_PROGRAM OFF)
  set(VOLVELLE_BUILD_TESTS OFF)
endif()
