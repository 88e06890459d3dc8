#pragma once

#include <cstdint>

#include "kernels/matmul.h"
#include "ops/matrix.h"
#include "volvelle/ops/packed_weights.h"

namespace volvelle {

/// Panels as the kernels read them: panel p at first + p * stride, [depth][32].
struct Panels {
  const float* first = nullptr;
  std::int64_t stride = 0;
};

/// Panels of bfloat16 as pairs of rows (kernels/matmul_pack.h): panel p at first + p * stride,
/// [pairs][32], with zeros up to a multiple of 16 pairs.
struct PairPanels {
  const std::uint32_t* first = nullptr;
  std::int64_t stride = 0;
};

/// The same in double.
struct DoublePanels {
  const double* first = nullptr;
  std::int64_t stride = 0;
};

/// Depth that pairs are handed out in: twice a block, for they are half as wide.
inline constexpr int kPairDepth = 2 * kernels::kDepthBlock;

/// The right operand of a product, (K,N), handed out in panels of 32 columns.
class PanelSource {
 public:
  virtual ~PanelSource() = default;

  /// `count` panels from `panel` on, rows k to k + depth (k a multiple of 32, depth at most
  /// kDepthBlock). `offset` elements are added to where a view starts. `scratch` holds as many
  /// panels of kDepthBlock rows.
  virtual Panels fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                       int depth, float* scratch) const = 0;

  /// Of float64 operands, which are handed out by this alone.
  virtual DoublePanels fetch_double(std::int64_t offset, std::int64_t panel, int count,
                                    std::int64_t k, int depth, double* scratch) const = 0;

  /// Whether it lies in panels already, so that nothing is copied on the way out.
  virtual bool is_packed() const { return false; }

  /// Whether every number is a bfloat16, so that nothing is lost in pairs.
  virtual bool is_bfloat16() const = 0;

  /// The same as pairs; depth is at most kPairDepth, and `scratch` holds as many panels of so many
  /// rows.
  virtual PairPanels fetch_pairs(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                                 int depth, std::uint32_t* scratch) const;
};

/// A view (K,N) of any strides, packed each time it is asked for.
class ViewPanels : public PanelSource {
 public:
  ViewPanels(const Matrix& matrix, std::int64_t columns) : matrix_(matrix), columns_(columns) {}

  Panels fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k, int depth,
               float* scratch) const override;
  DoublePanels fetch_double(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                            int depth, double* scratch) const override;
  bool is_bfloat16() const override { return matrix_.dtype == DType::bfloat16; }
  PairPanels fetch_pairs(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                         int depth, std::uint32_t* scratch) const override;

  /// The same to where the panels are to lie, `pitch` floats apart.
  void write(std::int64_t offset, std::int64_t panel, int count, std::int64_t k, int depth,
             float* to, std::int64_t pitch) const;

 private:
  Matrix matrix_;
  std::int64_t columns_;
};

/// Packed weights (N,K) as the right operand of x W^T.
class StoredPanels : public PanelSource {
 public:
  explicit StoredPanels(const PackedWeights::Storage& storage) : storage_(storage) {}

  bool is_packed() const override { return true; }
  bool is_bfloat16() const override;
  PairPanels fetch_pairs(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                         int depth, std::uint32_t* scratch) const override;
  Panels fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k, int depth,
               float* scratch) const override;
  DoublePanels fetch_double(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                            int depth, double* scratch) const override;

 private:
  const PackedWeights::Storage& storage_;
};

/// The same weights as the right operand of y W: columns are inputs, and outputs are summed over.
class TransposedPanels : public PanelSource {
 public:
  explicit TransposedPanels(const PackedWeights::Storage& storage) : storage_(storage) {}

  bool is_bfloat16() const override;
  Panels fetch(std::int64_t offset, std::int64_t panel, int count, std::int64_t k, int depth,
               float* scratch) const override;
  DoublePanels fetch_double(std::int64_t offset, std::int64_t panel, int count, std::int64_t k,
                            int depth, double* scratch) const override;

 private:
  const PackedWeights::Storage& storage_;
};

}  // namespace volvelle
