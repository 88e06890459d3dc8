#include "support/golden_arrays.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "support/arrays.h"

namespace volvelle::testing {
namespace {

// Units in the last place of the largest number: tests compare sums of a few dozen terms.
double allowed_share(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-13;
    case DType::float32:
      return 1e-5;
    case DType::float16:
      return 4e-3;
    default:
      return 3e-2;
  }
}

}  // namespace

GoldenArrays::GoldenArrays(const std::string& file)
    : arrays_(read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/" + file)) {}

Tensor GoldenArrays::get(const std::string& name, DType dtype) const {
  const Tensor* const found = find_array(arrays_, name);
  if (found == nullptr) throw std::out_of_range("no golden array " + name);
  return converted(found->view(), dtype);
}

std::string GoldenArrays::difference(const std::string& name, const View& ours,
                                     double share) const {
  const Tensor right = get(name, DType::float64);
  if (!ours || ours.shape() != right.shape()) {
    return name + " has shape " + to_string(right.shape()) + ", ours " +
           (ours ? to_string(ours.shape()) : std::string("is absent"));
  }
  const std::vector<double> wanted = values_of(right.view()), numbers = values_of(ours);
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::fabs(number));
  const double allowed = (share > 0 ? share : allowed_share(ours.dtype())) * largest;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::fabs(numbers[i] - wanted[i]) <= allowed) continue;
    std::ostringstream text;
    text << name << "[" << i << "] is " << numbers[i] << ", not " << wanted[i] << " (allowed "
         << allowed << ")";
    return text.str();
  }
  return "";
}

}  // namespace volvelle::testing
