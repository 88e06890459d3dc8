#pragma once

#include <cstddef>

#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// What `threads` cores reach together in multiply-adds on registers, with the instruction set in
/// use (`simd_target`), measured over about `microseconds` on each core. A multiply-add counts as
/// two operations; an instruction set without one is measured with a multiplication and an
/// addition. 5000 us give a steady figure; 40 us are enough around each repetition of something
/// else, to take clock drift out of a ratio.
/// Units:   GFLOP/s: of float64 for DType::float64; for DType::bfloat16 of what multiplies its
/// pairs
///          (`simd_target`: avx3_amx, avx3_bf16), where something does; else of float32.
/// Throws:  InvalidArgument for a dtype that is not floating, threads < 0 (0: the process's
///          setting), or a time outside (0, 1e6].
VOLVELLE_API double fma_peak_gflops(DType dtype, int threads = 0, double microseconds = 5000);

/// How fast `threads` cores together read memory that no cache holds: the best of five passes
/// over a buffer of `bytes`, each with the median time of its blocks of 1 MiB.
/// Units:   GB/s (1e9 bytes).
/// Throws:  InvalidArgument for threads < 0 or fewer than 2^20 bytes; IoError without memory.
VOLVELLE_API double read_bandwidth_gbs(int threads = 0, std::size_t bytes = std::size_t{256} << 20);

}  // namespace volvelle
