#include "volvelle/report/json_members.h"

#include "volvelle/base/error.h"

namespace volvelle {

JsonWriter& JsonMembers::operator[](std::string_view name) {
  if (!names_.emplace(name).second) {
    throw InternalError("[json] two members of one object are called '" + std::string(name) +
                        "'; please report this");
  }
  return json_.key(name);
}

}  // namespace volvelle
