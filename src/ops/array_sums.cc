#include "ops/array_sums.h"

#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/sums.h"
#include "ops/chunks.h"
#include "ops/computed_types.h"

namespace volvelle {
namespace {

template <class SumOfChunk>
double sum_of_chunks(std::int64_t count, int threads, SumOfChunk&& sum_of_chunk) {
  threads = resolve_threads(threads);
  if (count <= kChunk) return sum_of_chunk(0, count);
  std::vector<double> sums(static_cast<std::size_t>((count + kChunk - 1) / kChunk));
  for_each_chunk(count, threads, [&](std::int64_t first, std::int64_t here) {
    sums[static_cast<std::size_t>(first / kChunk)] = sum_of_chunk(first, here);
  });
  double sum = 0;
  for (const double of_chunk : sums) sum += of_chunk;
  return sum;
}

}  // namespace

double sum_of(const Tensor& x, int threads) {
  double sum = 0;
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto add = std::get<kernels::SumElements<T>>(kernels::sum_kernels().sum);
    const T* const in = x.data<T>();
    sum = sum_of_chunks(x.size(), threads, [&](std::int64_t first, std::int64_t count) {
      return add(in + first, count);
    });
  });
  return sum;
}

double sum_of_products(const Tensor& x, const Tensor& y, int threads) {
  double sum = 0;
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto add = std::get<kernels::SumProducts<T>>(kernels::sum_kernels().products);
    const T* const left = x.data<T>();
    const T* const right = y.data<T>();
    sum = sum_of_chunks(x.size(), threads, [&](std::int64_t first, std::int64_t count) {
      return add(left + first, right + first, count);
    });
  });
  return sum;
}

std::int64_t first_non_finite_of(const Tensor& x, int threads) {
  const std::int64_t none = x.size();
  std::atomic<std::int64_t> found{none};  // the first element of the first such chunk
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto all_finite = std::get<kernels::AllFinite<T>>(kernels::sum_kernels().all_finite);
    const T* const in = x.data<T>();
    for_each_chunk(x.size(), resolve_threads(threads), [&](std::int64_t first, std::int64_t count) {
      if (first > found.load(std::memory_order_relaxed) || all_finite(in + first, count)) return;
      std::int64_t before = found.load(std::memory_order_relaxed);
      while (first < before && !found.compare_exchange_weak(before, first)) {
      }
    });
  });
  std::int64_t index = found.load();
  if (index == none) return -1;
  while (std::isfinite(element_as_double(x.view(), index))) ++index;
  return index;
}

}  // namespace volvelle
