#pragma once

#include <cstdint>
#include <optional>

#include "volvelle/attention/problem.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/nn/token_places.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The places of a batch's tokens, checked, in the form in which attention and schemes are told.
class PlacedTokens {
 public:
  /// For B rows of T tokens. Throws InvalidArgument: arrays that are no integers or of another
  /// shape, a negative position or one from 2^30 on, a length outside [0, T], segments without
  /// positions.
  PlacedTokens(const TokenPlaces& tokens, std::int64_t batch, std::int64_t count);

  /// (B,T) or (T) int64: positions in full, for schemes that are added to the token vectors.
  Tensor positions() const;
  /// For a scheme that has so many: padding on the right, which else stands at its index, is put
  /// where the scheme has a position, so that a row ends where its real tokens do.
  void keep_padding_within(std::optional<std::int64_t> positions);
  /// What attention over these tokens alone goes by. Its arrays are this object's.
  AttentionPlaces attention_places() const;
  bool has_positions() const { return static_cast<bool>(positions_); }
  bool has_segments() const { return static_cast<bool>(segments_); }
  bool has_lengths() const { return static_cast<bool>(lengths_); }

  /// Padding and other documents are not seen. Throws InvalidArgument where the rules say so, too.
  void exclude(AttentionProblem& rules) const;

 private:
  void count_real_tokens();
  bool is_real(std::int64_t row, std::int64_t token) const;

  std::int64_t batch_, count_;
  Padding padding_;
  Tensor positions_;  // absent: every real token stands at its index
  Tensor segments_, lengths_, row_lengths_;
  std::int64_t bound_ = 0;
};

/// 1 + the largest of integers; 0 where there are none. Throws InvalidArgument for a negative one,
/// for one from 2^30 on, and for other dtypes; `name` says whose they are.
std::int64_t position_bound(const char* name, const View& positions);

}  // namespace volvelle
