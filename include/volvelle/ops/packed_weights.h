#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// How packed weights are stored. Blocks of 8 and 4 bits will be more of these.
enum class WeightFormat : std::uint8_t { float32, bfloat16, float16, float64 };

/// "float32", "bfloat16", "float16", "float64".
VOLVELLE_API std::string_view name_of(WeightFormat format) noexcept;

struct PackOptions {
  int threads = 0;  ///< at most this many; 0: the process's setting (set_threads)
};

/// The weights of a linear layer, laid out once for the kernels: panels of 32 outputs at 64-byte
/// boundaries, for any instruction set. What reads it needs to know no format. Immutable; copies
/// share the bytes; may be read from several threads at once. Default-constructed: absent.
class VOLVELLE_API PackedWeights {
 public:
  PackedWeights() = default;

  /// Packs W (N,K) of a floating dtype, of any strides, in the format of that dtype.
  /// Throws InvalidArgument (rank, dtype, a null pointer, sizes beyond 63 bits) and IoError, naming
  /// the size, when the memory cannot be had.
  explicit PackedWeights(const View& weights, const PackOptions& options = {});

  /// The same in a chosen format: a wider one keeps every number, a narrower one rounds to nearest,
  /// ties to even. float64 comes from float64 alone, and goes nowhere else.
  PackedWeights(const View& weights, WeightFormat format, const PackOptions& options = {});

  /// Two matrices (N,K) for a gated product act(X gate^T + ...) * (X up^T + ...) in one pass. In
  /// the format of their common dtype; throws InvalidArgument where shapes or dtypes differ.
  static PackedWeights gated(const View& gate, const View& up, const PackOptions& options = {});
  static PackedWeights gated(const View& gate, const View& up, WeightFormat format,
                             const PackOptions& options = {});

  explicit operator bool() const noexcept { return storage_ != nullptr; }
  std::int64_t outputs() const noexcept;  ///< N: columns of the product
  std::int64_t inputs() const noexcept;   ///< K
  WeightFormat format() const noexcept;
  bool is_gated() const noexcept;      ///< holds a gate beside the weights proper
  std::size_t bytes() const noexcept;  ///< of the packed storage

  /// What the kernels read; its contents are the library's own.
  struct Storage;
  const Storage* storage() const noexcept { return storage_.get(); }

 private:
  explicit PackedWeights(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

  std::shared_ptr<const Storage> storage_;
};

}  // namespace volvelle
