#include "volvelle/tensor/dtype.h"

#include <array>

namespace volvelle {
namespace {

struct Row {
  std::string_view name;
  std::uint8_t size;
  bool floating;
  bool integer;
};

// One row per DType, in the order of the enumeration.
constexpr std::array<Row, 13> kRows{{
    {"float32", 4, true, false},
    {"float64", 8, true, false},
    {"float16", 2, true, false},
    {"bfloat16", 2, true, false},
    {"int8", 1, false, true},
    {"uint8", 1, false, true},
    {"int16", 2, false, true},
    {"uint16", 2, false, true},
    {"int32", 4, false, true},
    {"uint32", 4, false, true},
    {"int64", 8, false, true},
    {"uint64", 8, false, true},
    {"bool", 1, false, false},
}};

const Row& row(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) noexcept { return row(dtype).size; }
std::string_view name_of(DType dtype) noexcept { return row(dtype).name; }
bool is_floating(DType dtype) noexcept { return row(dtype).floating; }
bool is_integer(DType dtype) noexcept { return row(dtype).integer; }

}  // namespace volvelle
