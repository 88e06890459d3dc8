#pragma once

#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Which tokens of a batch (B,T) are real, which belong together and where they stand. Every
/// position scheme and every attention of a model reads the same places, so padding, packed
/// documents and sequences of different lengths need nothing else.
struct TokenPlaces {
  /// (B,T) or (T) integers >= 0: the position of each token. Absent: a token's index among the real
  /// tokens of its row (left padding does not count), going on behind what a cache holds. Below
  /// 2^30; of schemes that turn (rotary, xpos), which keep a row for each up to the largest, below
  /// 2^24.
  View positions = {};
  /// (B,T) or (T) integers: documents packed into one row; equal ids see each other. Positions must
  /// then be given: `positions_in_segments` makes those that start again with each document.
  View segments = {};
  View lengths = {};                 ///< (B) integers: real tokens of each row; absent: all
  Padding padding = Padding::right;  ///< on which side the others are
};

/// (B,T) int64: 0, 1, 2, ... from each row's first real token on; 0 at padding.
/// Throws InvalidArgument for lengths outside [0, T].
VOLVELLE_API Tensor positions_of_rows(const View& lengths, std::int64_t tokens, Padding padding);

/// The shape of segments, int64: 0, 1, 2, ... within each run of equal ids.
VOLVELLE_API Tensor positions_in_segments(const View& segments);

}  // namespace volvelle
