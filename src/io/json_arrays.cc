#include "io/json_arrays.h"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "io/file_kind.h"
#include "io/json_text.h"
#include "io/message_text.h"
#include "io/nested_list.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// An array takes some 200 bytes however short its text is.
constexpr std::size_t kMostArrays = 10000;

class ArrayEvents final : public JsonEvents {
 public:
  ArrayEvents(const std::string& file, DType number_dtype, bool named)
      : JsonEvents(file, 0, "the text"),
        number_dtype_(number_dtype),
        inside_(!named),
        named_(named),
        list_(named ? "" : "the list") {}

  NamedArrays take() { return std::move(arrays_); }

  bool start_object(std::size_t) override {
    if (inside_) unexpected("an object");
    inside_ = true;
    return true;
  }

  bool key(string_t& name) override {
    if (!names_.insert(name).second) fail("the name " + in_quotes(name) + " is given twice");
    if (names_.size() > kMostArrays) {
      fail("more than " + std::to_string(kMostArrays) + " arrays; use .npz or .safetensors");
    }
    raw_name_ = name;
    const std::string shown = in_quotes(name);
    list_ = NestedList(shown.substr(1, shown.size() - 2));
    return true;
  }

  bool end_object() override { return true; }

  bool start_array(std::size_t) override {
    if (!inside_) unexpected("a list");
    demand(list_.open());
    return true;
  }

  bool end_array() override {
    demand(list_.close());
    finish_if_closed();
    return true;
  }

  bool boolean(bool value) override {
    return add([value](NumberList& list) { return list.add_boolean(value); }, "true or false");
  }
  bool number_integer(number_integer_t value) override {
    return add([value](NumberList& list) { return list.add_integer(value); }, "a number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    return value <= static_cast<std::uint64_t>(INT64_MAX)
               ? number_integer(static_cast<number_integer_t>(value))
               : number_float(static_cast<double>(value), {});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add([value](NumberList& list) { return list.add_real(value); }, "a number");
  }
  bool null() override {
    if (!inside_) unexpected("null");
    fail("null at " + list_.place() +
         ": it could stand for NaN or for either infinity; .npy and "
         ".npz hold all three");
  }

 private:
  template <class Add>
  bool add(Add&& add_to, const char* what) {
    if (!inside_) unexpected(what);
    demand(list_.add(add_to));
    finish_if_closed();
    return true;
  }

  void demand(const std::string& problem) const {
    if (!problem.empty()) fail(problem);
  }

  void finish_if_closed() {
    if (list_.is_open()) return;
    demand(list_.check(number_dtype_));
    arrays_.push_back({raw_name_, list_.finish(number_dtype_)});
  }

  [[noreturn]] bool unexpected(const std::string& found) const override {
    if (!inside_) {
      fail("the text is " + found +
           "; expected an object of named arrays, {\"q\": [[1, 0], [1, 1]], ...}");
    }
    if (!named_ && !list_.is_open()) {
      fail("the text is " + found + "; expected nested lists of numbers or of true and false");
    }
    fail(list_.place() + " is " + found +
         "; expected nested lists of numbers or of true and false");
  }

  DType number_dtype_;
  bool inside_;  // the object, or from the start where one array is wanted
  bool named_;
  NestedList list_;
  std::string raw_name_;
  std::unordered_set<std::string> names_;
  NamedArrays arrays_;
};

NamedArrays parse(const Source& source, const ReadOptions& options, bool named) {
  check_number_dtype(options.number_dtype);
  refuse_binary(source, ".json");
  if (source.bytes.size() > options.max_text_bytes) {
    throw FormatError(source.name, -1,
                      "JSON of " + std::to_string(source.bytes.size()) +
                          " bytes is beyond the limit of " +
                          std::to_string(options.max_text_bytes) +
                          "; use .npz or .safetensors (or raise ReadOptions::max_text_bytes)");
  }
  ArrayEvents events(source.name, options.number_dtype, named);
  events.read(source.bytes);
  return events.take();
}

}  // namespace

NamedArrays parse_json_arrays(const Source& source, const ReadOptions& options) {
  return parse(source, options, true);
}

Tensor parse_json_array(const Source& source, const ReadOptions& options) {
  return parse(source, options, false).front().array;
}

}  // namespace volvelle
