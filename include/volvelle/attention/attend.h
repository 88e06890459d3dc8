#pragma once

#include <cstdint>
#include <string>

#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// The three ways to compute the one operation.
enum class AttentionPath : std::uint8_t {
  automatic,  ///< fused unless `explain` says why not
  fused,      ///< tiles of keys against panels of queries; never a T x S buffer
  composed,   ///< scores as a matrix, operation by operation, a head at a time
  oracle,     ///< plain loops in double, written from the formula
};

struct AttentionOptions {
  AttentionPath path = AttentionPath::automatic;
  int threads = 0;  ///< at most this many; 0: the process's setting (set_threads)
};

/// Arrays of the caller that are to be written; an absent one is not computed. Any strides, so
/// (B,T,H,E) memory serves as well; none may overlap an input or each other.
struct AttentionOutputs {
  MutableView output = {};       ///< (B,H,T,E) in q's dtype; rank as q's, or 4
  MutableView lse = {};          ///< (B,H,T) natural log; float32, or float64 for float64
  MutableView entropy = {};      ///< (B,H,T) nats of each row's distribution (the sink's share
                                 ///< included); 0 for an empty row; dtype as lse
  MutableView column_sums = {};  ///< (B,H,S): sum of each key's weights over the queries; as lse
};

/// What to compute when the library makes the arrays.
struct AttentionRequest {
  bool lse = true;
  bool entropy = false;
  bool column_sums = false;
};

struct AttentionResult {
  Tensor output;  ///< rank as q's
  Tensor lse;     ///< (B,H,T), without the axes q does not have
  Tensor entropy;
  Tensor column_sums;
};

/// Attention into the caller's arrays. No allocation beyond per-thread workspaces that are kept.
/// The bits of a row depend on that row's problem only: not on the thread count, nor on what else
/// is in the batch. May be called from several threads at once.
/// Throws:  InvalidArgument (shapes, dtypes, values, overlap), Unsupported (a forced path that
///          cannot), IoError (memory that cannot be had). Nothing is written after a throw that
///          checks caused.
/// Source:  Vaswani et al. 2017, arXiv:1706.03762; tiles after Dao et al. 2022, arXiv:2205.14135.
VOLVELLE_API void attend(const AttentionProblem& problem, const AttentionOutputs& outputs,
                         const AttentionOptions& options = {});

/// The same; the library makes the arrays.
VOLVELLE_API AttentionResult attend(const AttentionProblem& problem,
                                    const AttentionRequest& request = {},
                                    const AttentionOptions& options = {});

/// How many (panel of queries) x (tile of keys) pieces the fused walk meets, over all heads.
struct TileCounts {
  std::int64_t skipped = 0;  ///< no key seen: no work
  std::int64_t full = 0;     ///< every key seen: no mask code
  std::int64_t partial = 0;
  int queries = 0;  ///< queries in a panel
  int keys = 0;     ///< keys in a tile
};

/// What `attend` would do with a problem, and why.
struct AttentionPlan {
  AttentionPath path = AttentionPath::fused;
  std::string reason;
  std::string simd;  ///< instruction set of the fused kernels; "double loops" for the oracle
  TileCounts tiles;  ///< zero unless the path is fused
  double scale = 0;
  std::int64_t batch = 0, heads = 0, key_heads = 0, queries = 0, keys = 0;
  std::int64_t head_width = 0, value_width = 0;
};

/// Throws what `attend` would throw for the same problem.
VOLVELLE_API AttentionPlan explain(const AttentionProblem& problem,
                                   const AttentionOptions& options = {});

}  // namespace volvelle
