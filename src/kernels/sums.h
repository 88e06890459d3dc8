#pragma once

#include <cstdint>
#include <tuple>

#include "volvelle/base/half.h"

namespace volvelle::kernels {

/// Sums in float64 of elements that lie next to each other at any alignment, in one order on every
/// instruction set: of float and BFloat16 with the same bits on all of them.
template <class T>
using SumElements = double (*)(const T* x, std::int64_t count);
template <class T>
using SumProducts = double (*)(const T* x, const T* y, std::int64_t count);
/// Adds each of `rows` rows, `stride` elements apart, to `sums`, in order.
template <class T>
using AddRows = void (*)(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                         double* sums);
/// Whether every element is finite.
template <class T>
using AllFinite = bool (*)(const T* x, std::int64_t count);

struct SumKernels {
  std::tuple<SumElements<float>, SumElements<BFloat16>, SumElements<double>> sum;
  std::tuple<SumProducts<float>, SumProducts<BFloat16>, SumProducts<double>> products;
  std::tuple<AddRows<float>, AddRows<BFloat16>, AddRows<double>> add_rows;
  std::tuple<AllFinite<float>, AllFinite<BFloat16>, AllFinite<double>> all_finite;
};

/// Of the instruction set in use.
const SumKernels& sum_kernels();

}  // namespace volvelle::kernels
