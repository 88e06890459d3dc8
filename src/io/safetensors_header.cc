#include "io/safetensors_header.h"

#include <array>
#include <unordered_set>
#include <utility>

#include "io/json_text.h"
#include "io/message_text.h"
#include "io/safetensors_dtype.h"
#include "io/stored_array.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr const char* kMetadata = "__metadata__";

// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//  "__metadata__": {"text": "text", ...}}
class HeaderEvents final : public JsonEvents {
 public:
  explicit HeaderEvents(const std::string& file) : JsonEvents(file, 8, "the header") {}

  std::vector<SafetensorsEntry> take() { return std::move(entries_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top_value) {
      place_ = entry_.name == kMetadata ? Place::metadata : Place::entry;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::top) {
      if (!names_.insert(name).second) fail("the header names " + in_quotes(name) + " twice");
      entry_ = {};
      entry_.name = name;
      seen_ = {};
      place_ = Place::top_value;
    } else if (place_ == Place::metadata) {
      if (!metadata_keys_.insert(name).second) {
        fail("the header's metadata give " + in_quotes(name) + " twice");
      }
      place_ = Place::metadata_value;
    } else {
      start_field(name);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata_value) {
      place_ = Place::metadata;
    } else if (place_ == Place::dtype) {
      const std::optional<DType> dtype = dtype_of_safetensors(value);
      if (!dtype) fail(tensor() + " has dtype " + why_unsupported_in_safetensors(value));
      entry_.dtype = *dtype;
      place_ = Place::entry;
    } else {
      unexpected("a text");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::shape) {
      place_ = Place::axis;
    } else if (place_ == Place::offsets) {
      place_ = Place::offset;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::axis) {
      if (value > static_cast<std::uint64_t>(INT64_MAX))
        fail(tensor() + " has an axis beyond 63 bits");
      if (entry_.shape.rank() == Axes::kMaxRank) {
        fail(tensor() + " has more than " + std::to_string(Axes::kMaxRank) + " axes");
      }
      entry_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::offset) {
      if (offset_count_ == 2) fail(tensor() + " has more than two data_offsets");
      (offset_count_++ == 0 ? entry_.begin : entry_.end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offset && offset_count_ != 2) {
      fail(tensor() + " has fewer than two data_offsets");
    }
    place_ = Place::entry;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) {
      check_entry();
      entries_.push_back(std::move(entry_));
    }
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

 private:
  // Where in the text the next event stands.
  enum class Place {
    outside,
    top,
    top_value,
    metadata,
    metadata_value,
    entry,
    dtype,
    shape,
    axis,
    offsets,
    offset
  };
  static constexpr std::array<std::pair<std::string_view, Place>, 3> kFields{
      {{"dtype", Place::dtype}, {"shape", Place::shape}, {"data_offsets", Place::offsets}}};

  void start_field(const std::string& name) {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (kFields[i].first != name) continue;
      if (seen_[i]) fail(tensor() + " has " + name + " twice");
      seen_[i] = true;
      place_ = kFields[i].second;
      offset_count_ = 0;
      return;
    }
    fail(tensor() + " has the unknown key " + in_quotes(name) +
         "; expected dtype, shape and data_offsets");
  }

  void check_entry() const {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (!seen_[i]) fail(tensor() + " lacks " + std::string(kFields[i].first));
    }
    const std::string what = tensor() + ", " + to_string(entry_.shape) + " of " +
                             std::string(name_of(entry_.dtype)) + ", ";
    const std::optional<std::uint64_t> size = array_bytes(entry_.shape, entry_.dtype);
    if (!size) fail(what + "does not fit 63 bits");
    if (entry_.end < entry_.begin || entry_.end - entry_.begin != *size) {
      fail(what + "takes " + std::to_string(*size) + " bytes, but its data_offsets are [" +
           std::to_string(entry_.begin) + ", " + std::to_string(entry_.end) + "]");
    }
  }

  std::string tensor() const { return "tensor " + in_quotes(entry_.name); }

  [[noreturn]] bool unexpected(const std::string& found) const override {
    const std::string where = place_ == Place::outside          ? "at the top of the header"
                              : place_ == Place::metadata_value ? "in the header's metadata"
                                                                : "in " + tensor();
    fail(found + " stands " + where + "; expected " + expected());
  }

  std::string expected() const {
    switch (place_) {
      case Place::dtype:
      case Place::metadata_value:
        return "a text";
      case Place::shape:
      case Place::offsets:
        return "a list of counts";
      case Place::axis:
      case Place::offset:
        return "counts";
      default:
        return "an object";
    }
  }

  Place place_ = Place::outside;
  SafetensorsEntry entry_;
  std::array<bool, 3> seen_{};
  int offset_count_ = 0;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> metadata_keys_;
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(const Source& header) {
  HeaderEvents events(header.name);
  events.read(header.bytes);
  return events.take();
}

std::string safetensors_header_for(const NamedArrays& arrays) {
  std::string text = "{\"__metadata__\":{\"format\":\"pt\"}";
  std::uint64_t at = 0;
  for (const NamedArray& named : arrays) {
    if (named.name == kMetadata) {
      throw InvalidArgument("[write] __metadata__ is a reserved name in .safetensors");
    }
    const Tensor& array = named.array;
    text.append(",").append(nlohmann::json(named.name).dump());
    text.append(":{\"dtype\":\"")
        .append(safetensors_name_of(array.dtype()))
        .append("\",\"shape\":[");
    for (int axis = 0; axis < array.rank(); ++axis) {
      text.append(axis > 0 ? "," : "").append(std::to_string(array.shape()[axis]));
    }
    text += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + array.bytes()) +
            "]}";
    at += array.bytes();
  }
  return text + "}";
}

}  // namespace volvelle
