#include "volvelle/io/text_file.h"

#include "io/new_file.h"

namespace volvelle {

void write_text_file(const std::string& path, std::string_view text, const WriteOptions& options) {
  NewFile file(path, options.force);
  file.write(text.data(), text.size());
  file.commit();
}

void check_text_path(const std::string& path, const WriteOptions& options) {
  NewFile::check(path, options.force);
}

}  // namespace volvelle
