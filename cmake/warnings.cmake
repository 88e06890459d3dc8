# Flags of our own targets only; a project that takes Volvelle in keeps its own.
add_library(volvelle_flags INTERFACE)
target_compile_features(volvelle_flags INTERFACE cxx_std_20)
target_compile_options(volvelle_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  # GCC 12 sees overlaps in std::string's own appending that are not there.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(VOLVELLE_SANITIZE)
  target_compile_options(volvelle_flags INTERFACE
    -fsanitize=${VOLVELLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(volvelle_flags INTERFACE -fsanitize=${VOLVELLE_SANITIZE})
endif()
