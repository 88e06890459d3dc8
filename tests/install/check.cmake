# Run by ctest as tests/install/CMakeLists.txt says, in one of two modes.
# package: installs the built tree into a prefix of its own, measures it, builds examples/ against it
# and compares what the examples print. subproject: the same first example by add_subdirectory.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\nexit ${status}\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(must_print program pattern)
  must(${program})
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "${program} printed\n${out}which does not match\n${pattern}")
  endif()
  message(STATUS "${program}\n${out}")
endfunction()

set(worked_example "^1\\.6605 2\\.6605\n2\\.0000 3\\.0000\n$")
set(configure ${CMAKE_COMMAND} -G ${generator} -DCMAKE_MAKE_PROGRAM=${make_program}
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher})

if(mode STREQUAL "package")
  file(REMOVE_RECURSE ${scratch})
  must(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/prefix --strip)
  file(GLOB_RECURSE installed ${scratch}/prefix/*)
  set(bytes 0)
  foreach(file IN LISTS installed)
    file(SIZE ${file} size)
    math(EXPR bytes "${bytes} + ${size}")
  endforeach()
  message(STATUS "installed size: ${bytes} bytes")
  # Kernels for each instruction set, forward and backward, in the library and again in the program.
  if(bytes GREATER 16000000)
    message(FATAL_ERROR "the installed tree has ${bytes} bytes, more than 16 MB")
  endif()
  if(program)
    must_print("${scratch}/prefix/bin/volvelle;--version" "volvelle")
  endif()
  must(${configure} -DCMAKE_BUILD_TYPE=Release -S ${source}/examples -B ${scratch}/examples -DCMAKE_PREFIX_PATH=${scratch}/prefix)
  must(${CMAKE_COMMAND} --build ${scratch}/examples)
  must_print(${scratch}/examples/attend "${worked_example}")
  must_print(${scratch}/examples/grouped_window "^first token reads its own value: yes\n$")
  must_print(${scratch}/examples/gradients "^a step of gradient descent comes closer: yes\n$")
  must_print(${scratch}/examples/decode "^step by step equals the full pass: yes\ntokens: 305 and 300, pages in use: 4\n$")
  must_print(${scratch}/examples/explain "refused: \\[[a-z_]+\\] .*window.*-1")
else()  # in Debug, and for one instruction set to keep it short; the build is kept for the next time
  must(${configure} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-DHWY_COMPILE_ONLY_STATIC -S ${source}/tests/install/subproject -B ${scratch}/build
    -DVOLVELLE_SOURCE=${source})
  must(${CMAKE_COMMAND} --build ${scratch}/build --target attend)
  must_print(${scratch}/build/attend "${worked_example}")
endif()
