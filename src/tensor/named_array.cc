#include "volvelle/tensor/named_array.h"

#include <algorithm>

namespace volvelle {

const Tensor* find_array(const NamedArrays& arrays, std::string_view name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [name](const NamedArray& named) { return named.name == name; });
  return found == arrays.end() ? nullptr : &found->array;
}

}  // namespace volvelle
