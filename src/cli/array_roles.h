#pragma once

#include <optional>
#include <string>

#include "volvelle/io/arrays.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// An array and where it came from.
struct SourcedArray {
  Tensor array;
  std::string from;   ///< for messages: "--q", "q in points.npz"
  bool text = false;  ///< numbers that were read as text have no dtype of their own
};

/// Text is read as float64 and rounded once, when its role is known.
inline constexpr ReadOptions kReadText{.number_dtype = DType::float64};

/// What an option of kind FILE|NUMBERS holds: numbers if it is written with nothing but the
/// characters of numbers and their separators, else the name of a file.
SourcedArray array_of_option(const std::string& option, const std::string& text);

/// True for .npy, .npz and .safetensors: arrays that carry their dtype.
bool is_binary_file(const std::string& path);

/// As one of q, k, v: text becomes `dtype` (float32 when not given), other floating arrays only
/// when it is given. Throws UsageError for whole numbers from a binary file without a dtype.
Tensor as_values(const SourcedArray& source, const std::optional<DType>& dtype);

/// As a bias, slopes, sinks or a table: text becomes float64 beside float64, else float32.
Tensor as_bias(const SourcedArray& source, const std::optional<DType>& dtype);

/// As lengths, offsets, positions or segments.
Tensor as_integers(const SourcedArray& source);

/// As a mask. Throws UsageError for a floating mask: that would be a bias.
Tensor as_mask(const SourcedArray& source);

/// As rank 1: a scalar, or a matrix of one row, as text makes it.
Tensor as_list(const Tensor& array);

/// The dtype called `name`, one of those that attention computes in.
DType dtype_named(const std::string& name);

}  // namespace volvelle::cli
