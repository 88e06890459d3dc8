#include "studies/gradient_arrays.h"

#include <cmath>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

template <class A, class B, class Term>
double sum_of(const A* a, const B* b, std::int64_t count, Term term) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += term(static_cast<double>(a[i]), static_cast<double>(b[i]));
  }
  return sum;
}

template <class A, class Term>
double sum_of(const A* a, const View& b, Term term) {
  const std::int64_t count = element_count(b.shape());
  if (b.dtype() == DType::float32) {
    return sum_of(a, static_cast<const float*>(b.data()), count, term);
  }
  return sum_of(a, static_cast<const double*>(b.data()), count, term);
}

bool is_floating(const View& view) {
  return view.dtype() == DType::float32 || view.dtype() == DType::float64;
}

template <class Term>
double sum_of(const View& a, const View& b, Term term) {
  if (a.shape() != b.shape() || !is_floating(a) || !is_floating(b)) {
    throw InternalError("[norm-placement] arrays " + to_string(a.shape()) + " and " +
                        to_string(b.shape()) + " cannot be compared: please report this");
  }
  if (a.dtype() == DType::float32) return sum_of(static_cast<const float*>(a.data()), b, term);
  return sum_of(static_cast<const double*>(a.data()), b, term);
}

}  // namespace

double inner_product(const View& a, const View& b) {
  return sum_of(a, b, [](double x, double y) { return x * y; });
}

double distance(const View& a, const View& b) {
  return std::sqrt(sum_of(a, b, [](double x, double y) { return (x - y) * (x - y); }));
}

}  // namespace volvelle
