#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "io/bytes.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::fuzz {

/// Input bytes as a parser sees a mapped file: arrays may share them.
inline Source source_of(const std::uint8_t* data, std::size_t size) {
  static std::byte nothing{};
  const auto* bytes = size > 0 ? reinterpret_cast<const std::byte*>(data) : &nothing;
  return {"input", Bytes(bytes, size), std::shared_ptr<void>(&nothing, [](void*) {})};
}

/// Reads every element, so that a sanitizer sees an array that reaches beyond its bytes, and stops
/// when an array is larger than `size` bytes of input can justify.
inline void look_at(const Tensor& array, std::size_t size, std::size_t most_per_byte) {
  if (array.bytes() / most_per_byte > size) std::abort();
  double sum = 0;
  for (std::int64_t i = 0; i < array.size(); ++i) sum += element_as_double(array.view(), i);
  volatile double kept = sum;
  (void)kept;
}

/// A parser may refuse its input in one way only: an Error that says why.
template <class Parse>
int run(Parse&& parse) {
  try {
    parse();
  } catch (const InternalError&) {
    std::abort();
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace volvelle::fuzz
