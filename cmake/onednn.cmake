# oneDNN, where it is installed, is a second opinion in the tests of products; nothing else of
# Volvelle knows it. Header and library are looked for directly: on Debian 12 its own CMake package
# stops the configuration where OpenCL's headers are missing.
find_path(VOLVELLE_ONEDNN_INCLUDE oneapi/dnnl/dnnl.h)
find_library(VOLVELLE_ONEDNN_LIBRARY dnnl)
mark_as_advanced(VOLVELLE_ONEDNN_INCLUDE VOLVELLE_ONEDNN_LIBRARY)

# Gives a target oneDNN, if there is one.
function(volvelle_use_onednn target)
  if(VOLVELLE_ONEDNN_INCLUDE AND VOLVELLE_ONEDNN_LIBRARY)
    target_compile_definitions(${target} PRIVATE VOLVELLE_ONEDNN)
    target_include_directories(${target} SYSTEM PRIVATE ${VOLVELLE_ONEDNN_INCLUDE})
    target_link_libraries(${target} PRIVATE ${VOLVELLE_ONEDNN_LIBRARY})
  endif()
endfunction()
