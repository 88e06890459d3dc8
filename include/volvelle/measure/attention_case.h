#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/measure/figures.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// A shape of attention to be timed. 0 stands for "the same": key heads as heads, keys as queries.
struct AttentionCase {
  DType dtype = DType::float32;
  std::int64_t batch = 1;
  std::int64_t heads = 8;
  std::int64_t key_heads = 0;
  std::int64_t queries = 1024;
  std::int64_t keys = 0;
  std::int64_t head_width = 64;
  bool causal = false;
  std::int64_t window = 0;
};

struct AttentionFigures : Figures {
  AttentionCase shape;  ///< with every length filled in
};

/// How many pairs of a query and a key it sees there are, over all heads.
/// Throws InvalidArgument for lengths below 1, as all that takes a case.
VOLVELLE_API double pairs_seen(const AttentionCase& shape);

}  // namespace volvelle
