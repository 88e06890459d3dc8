#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// Writes one JSON document, piece by piece, into a stream; nothing is held back but the nesting.
/// Members of objects stand on lines of their own, arrays on one. Finite numbers read back as the
/// same float32 or float64; what is not finite is null. Keys come in the order they are written.
///
///     JsonWriter json(std::cout);
///     json.begin_object();
///     json.key("scale").value(0.125);
///     json.end_object();
///
/// Throws InternalError when the calls do not make a document (a value without its key, say).
class VOLVELLE_API JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(float number);
  JsonWriter& value(double number);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(bool truth);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& null();

 private:
  struct Level {
    bool object = false;
    bool empty = true;
    bool broken = false;  ///< holds an object, so its end stands on a line of its own
  };
  void place(bool object);  // comma, line break and indent before a value
  void line();              // a new line at the present depth
  void scalar(std::string_view text);
  void close(bool object);

  std::ostream& out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  bool done_ = false;
};

}  // namespace volvelle
