#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_set>

#include "io/csv.h"
#include "io/json_arrays.h"
#include "io/mapped_file.h"
#include "io/message_text.h"
#include "io/new_file.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "volvelle/base/error.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

// The extension in lower case, point included; empty when there is none.
std::string extension_of(std::string_view path) {
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  const std::size_t point = file.find_last_of('.');
  if (point == std::string_view::npos) return {};
  std::string extension(file.substr(point));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

bool is_csv(const std::string& extension) {
  return extension == ".csv" || extension == ".tsv" || extension == ".txt";
}

[[noreturn]] void unknown_extension(const char* operation, const std::string& path,
                                    const std::string& rule) {
  const std::string extension = extension_of(path);
  throw InvalidArgument(std::string("[") + operation + "] " + path + ": " +
                        (extension.empty() ? std::string("no extension")
                                           : "the extension is " + in_quotes(extension)) +
                        "; " + rule);
}

// True for .npz, false for .safetensors.
bool is_npz_output(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension != ".npz" && extension != ".safetensors") {
    unknown_extension("write", path, "arrays are written to .npz and .safetensors");
  }
  return extension == ".npz";
}

void check_arrays(const NamedArrays& arrays) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    if (name.empty() || !is_utf8(name) || name.find('\0') != std::string::npos) {
      throw InvalidArgument("[write] the array name " + in_quotes(name) +
                            " is empty, not UTF-8 or holds a zero byte");
    }
    if (!names.insert(name).second) {
      throw InvalidArgument("[write] two arrays are called " + in_quotes(name));
    }
    if (!array) throw InvalidArgument("[write] the array " + in_quotes(name) + " is absent");
  }
}

}  // namespace

bool holds_named_arrays(std::string_view path) {
  const std::string extension = extension_of(path);
  return extension == ".npz" || extension == ".safetensors" || extension == ".json";
}

NamedArrays read_arrays(const std::string& path, const ReadOptions& options) {
  const std::string extension = extension_of(path);
  if (extension == ".npz") return parse_npz(map_file(path));
  if (extension == ".safetensors") return parse_safetensors(map_file(path), options);
  if (extension == ".json") return parse_json_arrays(map_file(path), options);
  const bool single = extension == ".npy" || is_csv(extension);
  unknown_extension("read", path,
                    single ? "such a file holds one array and no names; several are read from "
                             ".npz, .safetensors and .json"
                           : "named arrays are read from .npz, .safetensors and .json");
}

Tensor read_array(const std::string& path, const ReadOptions& options) {
  const std::string extension = extension_of(path);
  if (extension == ".npy") return parse_npy(map_file(path));
  if (is_csv(extension)) return parse_csv(map_file(path), options);
  if (extension == ".json") return parse_json_array(map_file(path), options);
  unknown_extension("read", path,
                    holds_named_arrays(path)
                        ? "such a file holds named arrays; one array is read from .npy, .csv and "
                          ".json"
                        : "one array is read from .npy, .csv, .tsv, .txt and .json");
}

void check_output_path(const std::string& path, const WriteOptions& options) {
  is_npz_output(path);
  NewFile::check(path, options.force);
}

void write_arrays(const std::string& path, const NamedArrays& arrays, const WriteOptions& options) {
  const bool npz = is_npz_output(path);
  check_arrays(arrays);
  NewFile file(path, options.force);
  if (npz) {
    write_npz(file, arrays);
  } else {
    write_safetensors(file, arrays);
  }
  file.commit();
}

}  // namespace volvelle
