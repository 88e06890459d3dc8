#include "io/npy_descr.h"

#include <array>

#include "io/message_text.h"

namespace volvelle {
namespace {

struct Row {
  std::string_view descr;
  DType dtype;
};

constexpr std::array kRows{
    Row{"<f2", DType::float16}, Row{"<f4", DType::float32}, Row{"<f8", DType::float64},
    Row{"|i1", DType::int8},    Row{"<i2", DType::int16},   Row{"<i4", DType::int32},
    Row{"<i8", DType::int64},   Row{"|u1", DType::uint8},   Row{"<u2", DType::uint16},
    Row{"<u4", DType::uint32},  Row{"<u8", DType::uint64},  Row{"|b1", DType::boolean},
};

constexpr std::string_view kByteOrders = "<>=|";

}  // namespace

std::optional<DType> dtype_of_descr(std::string_view descr) {
  if (descr.empty() || kByteOrders.find(descr[0]) == std::string_view::npos) return std::nullopt;
  for (const Row& row : kRows) {
    if (row.descr.substr(1) != descr.substr(1)) continue;
    // '|' means "no byte order", which only one-byte elements have.
    if (descr[0] == '|' && size_of(row.dtype) > 1) return std::nullopt;
    return row.dtype;
  }
  return std::nullopt;
}

std::string why_unsupported(std::string_view descr) {
  const std::string_view kind =
      !descr.empty() && kByteOrders.find(descr[0]) != std::string_view::npos ? descr.substr(1)
                                                                             : descr;
  std::string text = "elements of type " + in_quotes(descr) + " are not read: ";
  switch (kind.empty() ? '\0' : kind[0]) {
    case 'c':
      return text + "complex numbers; save the real and the imaginary part apart";
    case 'O':
      return text +
             "Python objects (a pickle, perhaps of a ragged list); save a plain numeric array";
    case 'S':
    case 'a':
    case 'U':
      return text + "strings; save a plain numeric array";
    case 'M':
    case 'm':
      return text + "dates or times; convert with .astype('int64')";
    case 'f':
      return text + "extended precision; convert with .astype('float64')";
    case 'V':
      return text +
             "raw bytes (bfloat16 of ml_dtypes is saved like this); convert with "
             ".astype('float32') or save as .safetensors";
    default:
      return text + "float16, float32, float64, integers of 8 to 64 bits and bool are";
  }
}

std::string_view descr_of(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.descr;
  }
  return "";
}

}  // namespace volvelle
