#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/bytes.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

/// `statement` throws `Type`, and its message holds `text`.
#define EXPECT_REFUSED(statement, Type, text) \
  EXPECT_THAT([&] { statement; }, ::testing::ThrowsMessage<Type>(::testing::HasSubstr(text)))

namespace volvelle::testing {

/// Bytes in memory as a parser takes them; the string must outlive the source.
inline Source source_of(const std::string& text) {
  return {"input", std::as_bytes(std::span(text.data(), text.size()))};
}

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void store(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A file that tests/golden/make_array_files.py made.
inline std::string golden_path(const std::string& name) {
  return std::string(VOLVELLE_TEST_DATA "/io/") + name;
}
inline std::string golden(const std::string& name) { return contents_of(golden_path(name)); }

/// The bytes of a number as files hold them.
template <class T>
std::string little(T value) {
  std::string text(sizeof(T), '\0');
  std::memcpy(text.data(), &value, sizeof(T));
  return text;
}

/// `text` with the bytes at `offset` replaced.
inline std::string patched(std::string text, std::size_t offset, const std::string& by) {
  return text.replace(offset, by.size(), by);
}

inline std::vector<double> values_of(const Tensor& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    values.push_back(element_as_double(array.view(), i));
  }
  return values;
}

class StringSink final : public ByteSink {
 public:
  void write(const void* data, std::size_t size) override {
    if (size > 0) text.append(static_cast<const char*>(data), size);
  }
  std::string text;
};

/// A folder of its own for each test, removed afterwards.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "volvelle-io-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string folder_;
};

}  // namespace volvelle::testing
