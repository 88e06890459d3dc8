#include "io/safetensors_dtype.h"

#include <array>

#include "io/message_text.h"

namespace volvelle {
namespace {

struct Row {
  std::string_view name;
  DType dtype;
};

// In the order of DType.
constexpr std::array kRows{
    Row{"F32", DType::float32},   Row{"F64", DType::float64}, Row{"F16", DType::float16},
    Row{"BF16", DType::bfloat16}, Row{"I8", DType::int8},     Row{"U8", DType::uint8},
    Row{"I16", DType::int16},     Row{"U16", DType::uint16},  Row{"I32", DType::int32},
    Row{"U32", DType::uint32},    Row{"I64", DType::int64},   Row{"U64", DType::uint64},
    Row{"BOOL", DType::boolean},
};

struct Known {
  std::string_view name;
  std::string_view what;
};

// The format's other names, as its library 0.8 has them.
constexpr std::array kUnsupported{
    Known{"F8_E5M2", "8-bit floats"},     Known{"F8_E4M3", "8-bit floats"},
    Known{"F8_E8M0", "8-bit exponents"},  Known{"F8_E4M3FNUZ", "8-bit floats"},
    Known{"F8_E5M2FNUZ", "8-bit floats"}, Known{"F6_E2M3", "6-bit floats"},
    Known{"F6_E3M2", "6-bit floats"},     Known{"F4", "4-bit floats"},
    Known{"C64", "complex numbers"},
};

}  // namespace

std::optional<DType> dtype_of_safetensors(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string why_unsupported_in_safetensors(std::string_view name) {
  for (const Known& known : kUnsupported) {
    if (known.name == name) {
      return std::string(name) + " (" + std::string(known.what) +
             ") is not read; convert the tensor to F32, BF16 or F16";
    }
  }
  return in_quotes(name) + " is not a dtype of the format";
}

std::string_view safetensors_name_of(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)].name;
}

}  // namespace volvelle
