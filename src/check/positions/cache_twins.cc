// Growing sequences, broken.
#include <algorithm>
#include <memory>

#include "check/positions/twins.h"
#include "tensor/slice.h"

namespace volvelle::positions {
namespace {

// Tokens in pieces of `chunk`, each extended on its own; the last one's logits.
template <class Piece>
Tensor in_pieces(const View& ids, const ExtendOptions& how_much, Piece piece) {
  const std::int64_t tokens = ids.shape()[1];
  const std::int64_t chunk = how_much.chunk > 0 ? how_much.chunk : tokens;
  ExtendOptions at_once = how_much;
  at_once.chunk = 0;
  Tensor logits;
  for (std::int64_t first = 0; first < tokens; first += chunk) {
    const std::int64_t count = std::min(chunk, tokens - first);
    logits = piece(slice(ids, 1, first, count), at_once);
  }
  return logits;
}

/// What each row of a batch has read so far, at which positions.
struct History {
  std::vector<std::int64_t> ids, positions;
};

// Logits (B,V) behind all that rows of one length have read.
Tensor last_logits(const PositionOperation& sound, const LanguageModel& model,
                   const std::vector<History>& rows, ForwardOptions how) {
  const auto batch = static_cast<std::int64_t>(rows.size());
  const auto tokens = static_cast<std::int64_t>(rows.front().ids.size());
  Tensor ids(DType::int64, Shape{batch, tokens}), positions(DType::int64, Shape{batch, tokens});
  for (std::int64_t b = 0; b < batch; ++b) {
    const History& row = rows[static_cast<std::size_t>(b)];
    std::copy_n(row.ids.begin(), tokens, ids.data<std::int64_t>() + b * tokens);
    std::copy_n(row.positions.begin(), tokens, positions.data<std::int64_t>() + b * tokens);
  }
  how.tokens.positions = positions.view();
  const Tensor logits = sound.logits(model, ids.view(), how);
  return copy_of(slice(logits.view(), 1, tokens - 1, 1)).reshaped({batch, kVocabulary});
}

}  // namespace

// Where the keys of a step are turned, or biased, as if nothing stood before them, and its queries
// too: the same as one pass in which each step's tokens stand at 0, 1, ... again.
PositionOperation restart_positions(const PositionOperation& sound) {
  PositionOperation twin = sound;
  const auto rows = std::make_shared<std::vector<History>>();
  twin.extend = [sound, rows](const LanguageModel& model, const View& ids, ModelCache& cache,
                              std::span<const Sequence> sequences, const ExtendOptions& how_much,
                              const ForwardOptions& how) {
    rows->resize(sequences.size());
    return in_pieces(ids, how_much, [&](const View& piece, const ExtendOptions& at_once) {
      const Tensor tokens = converted(piece, DType::int64);
      const std::int64_t count = piece.shape()[1];
      for (std::size_t b = 0; b < sequences.size(); ++b) {
        History& row = (*rows)[b];
        row.ids.resize(static_cast<std::size_t>(cache.length(sequences[b])));
        row.positions.resize(row.ids.size());
        for (std::int64_t t = 0; t < count; ++t) {
          row.ids.push_back(tokens.data<std::int64_t>()[static_cast<std::int64_t>(b) * count + t]);
          row.positions.push_back(t);
        }
      }
      sound.extend(model, piece, cache, sequences, at_once, how);  // the cache grows on
      return last_logits(sound, model, *rows, how);
    });
  };
  return twin;
}

PositionOperation forget_newest_token(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.extend = [sound](const LanguageModel& model, const View& ids, ModelCache& cache,
                        std::span<const Sequence> sequences, const ExtendOptions& how_much,
                        const ForwardOptions& how) {
    return in_pieces(ids, how_much, [&](const View& piece, const ExtendOptions& at_once) {
      for (const Sequence sequence : sequences) {
        const std::int64_t length = cache.length(sequence);
        if (length > 0) cache.truncate(sequence, length - 1);
      }
      return sound.extend(model, piece, cache, sequences, at_once, how);
    });
  };
  return twin;
}

PositionOperation forget_earlier_chunks(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.extend = [sound](const LanguageModel& model, const View& ids, ModelCache& cache,
                        std::span<const Sequence> sequences, const ExtendOptions& how_much,
                        const ForwardOptions& how) {
    return in_pieces(ids, how_much, [&](const View& piece, const ExtendOptions& at_once) {
      for (const Sequence sequence : sequences) cache.truncate(sequence, 0);
      return sound.extend(model, piece, cache, sequences, at_once, how);
    });
  };
  return twin;
}

}  // namespace volvelle::positions
