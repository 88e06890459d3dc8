#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "io/bytes.h"

namespace volvelle {

/// Receives the events of a JSON text in order. Every event that a format does not expect ends in
/// `unexpected`, which always throws; so does bad JSON, in `parse_error`.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// `offset` is that of the text in its file, `what` names the text in messages.
  JsonEvents(std::string file, std::int64_t offset, std::string what)
      : file_(std::move(file)), offset_(offset), what_(std::move(what)) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number with point or exponent");
  }
  bool string(string_t&) override { return unexpected("a text"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool start_object(std::size_t) override { return unexpected("an object"); }
  bool start_array(std::size_t) override { return unexpected("a list"); }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& problem) override;

  /// Parses `text` from its first byte to its last.
  void read(Bytes text);

 protected:
  virtual bool unexpected(const std::string& found) const = 0;
  [[noreturn]] void fail(const std::string& problem) const;
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::int64_t offset_;
  std::string what_;
};

}  // namespace volvelle
