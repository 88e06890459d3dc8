#pragma once

#include <set>
#include <string>
#include <string_view>

#include "volvelle/base/export.h"
#include "volvelle/report/json.h"

namespace volvelle {

/// An object of a JSON document whose members cannot meet: for names that come as data.
///
///     JsonMembers members(json);
///     members["scale"].value(0.125);
///     members.end();
class VOLVELLE_API JsonMembers {
 public:
  /// Begins the object.
  explicit JsonMembers(JsonWriter& json) : json_(json) { json_.begin_object(); }
  ~JsonMembers() = default;
  JsonMembers(const JsonMembers&) = delete;
  JsonMembers& operator=(const JsonMembers&) = delete;

  /// Writes the key; its value goes into what is returned.
  /// Throws InternalError for a name that the object has already.
  JsonWriter& operator[](std::string_view name);
  void end() { json_.end_object(); }

 private:
  JsonWriter& json_;
  std::set<std::string> names_;
};

}  // namespace volvelle
