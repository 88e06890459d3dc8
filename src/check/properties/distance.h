#pragma once

#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/tensor/view.h"

namespace volvelle::properties {

/// The largest |ours - right| over two arrays of equal shape, as a share of the largest finite
/// |right| where that exceeds 1. 0 for equal infinities and two NaN; infinite where only one is
/// finite.
double distance(const View& ours, const View& right);

/// 0 when every bit is the same; else the largest difference, or the smallest positive number where
/// the values are equal all the same (0 and -0).
double bit_distance(const View& ours, const View& right);

/// The larger one over output, log-sum-exp and whatever else both have.
double distance(const AttentionResult& ours, const AttentionResult& right);
double bit_distance(const AttentionResult& ours, const AttentionResult& right);

/// The gradients that a result can hold, for loops.
inline constexpr Tensor AttentionGradientResult::* kGradients[] = {
    &AttentionGradientResult::q,
    &AttentionGradientResult::k,
    &AttentionGradientResult::v,
    &AttentionGradientResult::bias,
    &AttentionGradientResult::slopes,
    &AttentionGradientResult::bias_table,
    &AttentionGradientResult::bucket_table,
    &AttentionGradientResult::sinks};

double bit_distance(const AttentionGradientResult& ours, const AttentionGradientResult& right);

}  // namespace volvelle::properties
