// Reading on behind what a cache holds: chunks of a prompt, and single tokens.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/cache_step.h"
#include "nn/language_model_parts.h"
#include "ops/integer_values.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/language_model.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("language model");

[[noreturn]] void refuse(const std::string& text) { kChecks.refuse(text); }

std::string number(Sequence sequence) {
  return std::to_string(static_cast<std::int64_t>(sequence));
}

// What is to be read, checked: (B,n) ids whose padding is 0.
struct NewTokens {
  std::int64_t rows = 0, columns = 0;
  Tensor ids;
  std::vector<std::int64_t> lengths;  // real tokens of each row, its last ones

  std::int64_t length(std::int64_t row) const { return lengths[static_cast<std::size_t>(row)]; }
  std::int64_t first(std::int64_t row) const { return columns - length(row); }
};

// One pass over some of them. A row is cut from its own first real token on, so that what stands
// beside it moves none of its cuts: short and long passes walk differently.
struct Pass {
  std::int64_t from = 0, width = 0;  // of every row, real tokens [from, from + width)
  std::vector<std::int64_t> counts;  // those that are there, the last columns of the pass

  Pass(const NewTokens& tokens, std::int64_t start, std::int64_t chunk) : from(start) {
    for (const std::int64_t length : tokens.lengths) {
      counts.push_back(std::clamp<std::int64_t>(length - from, 0, chunk));
      width = std::max(width, counts.back());
    }
  }
  std::int64_t count(std::int64_t row) const { return counts[static_cast<std::size_t>(row)]; }
  std::int64_t padding(std::int64_t row) const { return width - count(row); }
};

// Ids are looked at before any of them is read: a chunk that fails leaves what a fork copied.
void check_ids(const NewTokens& tokens, std::int64_t vocabulary) {
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    for (std::int64_t t = tokens.first(b); t < tokens.columns; ++t) {
      const std::int64_t id = tokens.ids.data<std::int64_t>()[b * tokens.columns + t];
      if (id >= 0 && id < vocabulary) continue;
      refuse("id " + std::to_string(id) + " of token " + std::to_string(t) + " of row " +
             std::to_string(b) + " is outside [0, " + std::to_string(vocabulary) +
             "), the model's vocabulary");
    }
  }
}

NewTokens new_tokens(const View& ids, std::span<const Sequence> sequences, const View& lengths) {
  if (!ids || ids.rank() < 1 || ids.rank() > 2) {
    refuse("ids " + (ids ? to_string(ids.shape()) : std::string("(absent)")) +
           " must be (B,n) or (n)");
  }
  NewTokens made;
  made.rows = ids.rank() == 2 ? ids.shape()[0] : 1;
  made.columns = ids.shape()[ids.rank() - 1];
  if (made.rows != static_cast<std::int64_t>(sequences.size())) {
    refuse("ids " + to_string(ids.shape()) + " have " + std::to_string(made.rows) + " rows for " +
           std::to_string(sequences.size()) + " sequences; one row for each is needed");
  }
  if (made.rows == 0 || made.columns == 0) {
    refuse("ids " + to_string(ids.shape()) + " hold no token, which has no logits");
  }
  made.ids =
      integer_tensor(kChecks, "ids", ids, "the words to read").reshaped({made.rows, made.columns});
  made.lengths.assign(static_cast<std::size_t>(made.rows), made.columns);
  if (!lengths) return made;
  if (lengths.rank() != 1 || lengths.shape()[0] != made.rows) {
    refuse("lengths " + to_string(lengths.shape()) + " must be (B)=(" + std::to_string(made.rows) +
           "): the real tokens of each row");
  }
  const Tensor given = integer_tensor(kChecks, "lengths", lengths, "the real tokens of each row");
  for (std::int64_t b = 0; b < made.rows; ++b) {
    const std::int64_t length = given.data<std::int64_t>()[b];
    if (length < 1 || length > made.columns) {
      refuse("length " + std::to_string(length) + " of row " + std::to_string(b) +
             " must lie in [1, " + std::to_string(made.columns) + "], the tokens of a row of ids");
    }
    made.lengths[static_cast<std::size_t>(b)] = length;
    std::fill_n(made.ids.data<std::int64_t>() + b * made.columns, made.first(b), 0);
  }
  return made;
}

// Schemes that end, and the cache that may be full: seen before anything is computed.
void check_room(const LanguageModel& model, const PositionScheme* of_tokens,
                const ModelCache& cache, std::span<const Sequence> sequences,
                const NewTokens& tokens) {
  std::optional<std::int64_t> end;
  const auto ends = [&](const PositionScheme* scheme) {
    if (scheme == nullptr) return;
    const std::optional<std::int64_t> own = scheme->facts().positions;
    if (own) end = std::min(own.value(), end.value_or(*own));
  };
  ends(of_tokens);
  for (std::int64_t layer = 0; layer < model.stack().options().layers; ++layer) {
    ends(model.stack().positions(layer));
  }
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    const Sequence sequence = sequences[static_cast<std::size_t>(b)];
    const std::int64_t length = cache.length(sequence);
    const std::int64_t more = tokens.lengths[static_cast<std::size_t>(b)];
    if (end && length + more > *end) {
      refuse("the model has " + std::to_string(*end) + " positions; sequence " + number(sequence) +
             " holds " + std::to_string(length) + " tokens, so " +
             std::to_string(std::max<std::int64_t>(0, *end - length)) + " more fit, not " +
             std::to_string(more) +
             ": stop here, drop tokens (ModelCache::truncate), or use a model whose positions go "
             "further");
    }
  }
  const auto fits = [&](std::int64_t rows) {
    const auto count = static_cast<std::size_t>(rows);
    return cache.layers().has_room(sequences.first(count), std::span(tokens.lengths).first(count));
  };
  if (fits(tokens.rows)) return;
  std::int64_t row = 0;
  while (fits(row + 1)) ++row;
  const KeyValueCacheUsage usage = cache.layers().usage_of_one();
  const Sequence sequence = sequences[static_cast<std::size_t>(row)];
  refuse("the cache is full: sequence " + number(sequence) + " holds " +
         std::to_string(cache.length(sequence)) + " tokens and " +
         std::to_string(tokens.length(row)) + " more do not fit; " +
         std::to_string(usage.capacity_pages - usage.pages) + " of " +
         std::to_string(usage.capacity_pages) + " pages of " + std::to_string(usage.page_tokens) +
         " tokens are free in the cache of each attention, and a fork needs one for the page that "
         "it shares; release or truncate a sequence, or make a larger cache "
         "(ModelCacheOptions::capacity)");
}

// Whoever gives positions says what they are anyway: a sequence of a cache has no gaps.
void check_positions(const View& positions, std::span<const Sequence> sequences,
                     const ModelCache& cache, const NewTokens& tokens) {
  if (!positions) return;
  const Shape& shape = positions.shape();
  const bool per_row = shape.rank() == 2;
  if (shape.rank() < 1 || shape.rank() > 2 || shape[shape.rank() - 1] != tokens.columns ||
      (per_row && shape[0] != tokens.rows)) {
    refuse("positions " + to_string(shape) +
           " must be (B,n)=" + to_string(Shape{tokens.rows, tokens.columns}) + " or (n)");
  }
  const Tensor given = integer_tensor(kChecks, "positions", positions, "one of each token");
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    const std::int64_t length = cache.length(sequences[static_cast<std::size_t>(b)]);
    for (std::int64_t t = tokens.first(b); t < tokens.columns; ++t) {
      const std::int64_t is = given.data<std::int64_t>()[(per_row ? b * tokens.columns : 0) + t];
      const std::int64_t due = length + t - tokens.first(b);
      if (is == due) continue;
      refuse("position " + std::to_string(is) + " of token " + std::to_string(t) + " of row " +
             std::to_string(b) + " must be " + std::to_string(due) +
             ": positions go on behind the " + std::to_string(length) +
             " tokens that the sequence holds (leave them out, or run `forward` without a cache)");
    }
  }
}

void check_how(const ForwardOptions& how, const ExtendOptions& how_much) {
  if (how.cache != nullptr) refuse("the cache is an argument; leave it out of the options");
  if (how.training) refuse("training drops at random what a cache would keep; run without it");
  if (how.tokens.lengths || how.tokens.padding != Padding::right) {
    refuse("lengths of the rows of ids go into ExtendOptions::lengths, not into the token places");
  }
  if (how.tokens.segments) {
    refuse("a sequence of a cache is one document; leave segments out and add() one for each");
  }
  if (how_much.chunk < 0) {
    refuse("chunk=" + std::to_string(how_much.chunk) + " must not be negative (0: all at once)");
  }
}

// (B,width) ids of a pass, 0 at padding.
Tensor ids_of(const NewTokens& tokens, const Pass& pass) {
  Tensor ids = Tensor::zeros(DType::int64, {tokens.rows, pass.width});
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    std::copy_n(tokens.ids.data<std::int64_t>() + b * tokens.columns + tokens.first(b) + pass.from,
                pass.count(b), ids.data<std::int64_t>() + b * pass.width + pass.padding(b));
  }
  return ids;
}

// The positions of these, 0 at padding.
Tensor positions_of(const Pass& pass, const CacheStep& step) {
  Tensor positions = Tensor::zeros(DType::int64, {step.rows(), pass.width});
  for (std::int64_t b = 0; b < step.rows(); ++b) {
    auto* row = positions.data<std::int64_t>() + b * pass.width + pass.padding(b);
    std::iota(row, row + pass.count(b), step.start(b));
  }
  return positions;
}

// Of x (B,width,C) the last token of each row that ends with this pass, into its row of (B,C).
void keep_last_tokens(const Tensor& x, const NewTokens& tokens, const Pass& pass, Tensor& last) {
  if (!last) last = Tensor(x.dtype(), {tokens.rows, x.shape()[2]});
  const std::size_t bytes = static_cast<std::size_t>(x.shape()[2]) * size_of(x.dtype());
  const auto* from = static_cast<const std::byte*>(x.raw());
  auto* to = static_cast<std::byte*>(last.raw());
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    if (pass.count(b) == 0 || pass.from + pass.count(b) != tokens.length(b)) continue;
    std::memcpy(to + static_cast<std::size_t>(b) * bytes,
                from + static_cast<std::size_t>((b + 1) * pass.width - 1) * bytes, bytes);
  }
}

// Logits (B,width,V) of real tokens into their columns of (B,n,V), which are 0 elsewhere.
void place_logits(const Tensor& logits, const NewTokens& tokens, const Pass& pass, Tensor& all) {
  if (!all) all = Tensor::zeros(logits.dtype(), {tokens.rows, tokens.columns, logits.shape()[2]});
  const std::size_t row = static_cast<std::size_t>(logits.shape()[2]) * size_of(logits.dtype());
  const auto* source = static_cast<const std::byte*>(logits.raw());
  auto* target = static_cast<std::byte*>(all.raw());
  for (std::int64_t b = 0; b < tokens.rows; ++b) {
    const std::int64_t column = b * tokens.columns + tokens.first(b) + pass.from;
    std::memcpy(target + static_cast<std::size_t>(column) * row,
                source + static_cast<std::size_t>(b * pass.width + pass.padding(b)) * row,
                static_cast<std::size_t>(pass.count(b)) * row);
  }
}

}  // namespace

Tensor LanguageModel::extend(const View& ids, ModelCache& cache,
                             std::span<const Sequence> sequences, const ExtendOptions& how_much,
                             const ForwardOptions& how) const {
  const Parts& parts = *parts_;
  if (cache.layers().model() != this) refuse("the cache is another model's");
  check_how(how, how_much);
  const NewTokens tokens = new_tokens(ids, sequences, how_much.lengths);
  check_ids(tokens, parts.options.vocabulary);
  CacheStep step(cache.layers(), sequences, "extend");
  check_positions(how.tokens.positions, sequences, cache, tokens);
  check_room(*this, parts.positions.get(), cache, sequences, tokens);

  const NoGrad no_grad;
  const ThreadScope scope(how.threads);
  ForwardOptions own = how;
  own.tokens = {};
  own.cache = &step;
  const std::int64_t longest = *std::max_element(tokens.lengths.begin(), tokens.lengths.end());
  const std::int64_t chunk = how_much.chunk == 0 ? longest : std::min(how_much.chunk, longest);
  Tensor every, last;
  for (std::int64_t from = 0; from < longest; from += chunk) {
    const Pass pass(tokens, from, chunk);
    step.begin_pass(pass.counts);
    const Variable hidden =
        parts.hidden(ids_of(tokens, pass).view(), positions_of(pass, step).view(), own);
    if (how_much.every_token) {
      place_logits(parts.head.forward(hidden, own).value(), tokens, pass, every);
    } else {
      keep_last_tokens(hidden.value(), tokens, pass, last);
    }
    step.end_pass();
  }
  if (!how_much.every_token) every = parts.head.forward(Variable(last), own).value();
  step.finish();
  return every;
}

Tensor LanguageModel::step(const View& ids, ModelCache& cache, std::span<const Sequence> sequences,
                           const ForwardOptions& how) const {
  if (!ids || ids.rank() != 1) {
    refuse("ids " + (ids ? to_string(ids.shape()) : std::string("(absent)")) +
           " must be (B): the next token of each sequence");
  }
  const View column(ids.data(), ids.dtype(), {ids.shape()[0], 1}, {ids.strides()[0], 1});
  return extend(column, cache, sequences, {}, how);
}

}  // namespace volvelle
