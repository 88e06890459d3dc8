#pragma once

#include <cstdint>
#include <vector>

namespace volvelle {

/// Token vectors beside the rows of positions that are added to them.
struct EmbeddingScale {
  double deviation = 0;       ///< of an embedding's entries
  bool factor = false;        ///< tokens times sqrt(width)
  double token_length = 0;    ///< mean over the tokens that were drawn
  double row_length = 0;      ///< of a row of positions, sqrt(width/2)
  double position_share = 0;  ///< of the sum's squared length, the position's part
};

/// Entries of deviation 1/sqrt(width), as shared embeddings often start, and of 1, as
/// torch.nn.Embedding does; each without and with the factor.
std::vector<EmbeddingScale> embedding_scales(std::int64_t width, std::uint64_t seed);

}  // namespace volvelle
