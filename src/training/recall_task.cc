#include "volvelle/training/recall_task.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "training/row_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

void check(const RecallOptions& options) {
  const std::pair<const char*, std::int64_t> counts[] = {{"keys", options.keys},
                                                         {"values", options.values},
                                                         {"pairs", options.pairs},
                                                         {"batch", options.batch}};
  constexpr std::int64_t kMost = 1 << 20;
  for (const auto& [name, count] : counts) {
    if (count >= 1 && count <= kMost) continue;
    throw InvalidArgument("[recall] " + std::string(name) + " " + std::to_string(count) +
                          " must lie between 1 and " + std::to_string(kMost));
  }
  if (options.values < 2) {
    throw InvalidArgument("[recall] with a single value there is nothing to tell apart");
  }
  if (options.pairs > options.keys) {
    throw InvalidArgument("[recall] pairs " + std::to_string(options.pairs) +
                          " must not exceed keys " + std::to_string(options.keys) +
                          ": keys of a sequence differ");
  }
}

void write_row(const RecallOptions& options, RowDraws draws, std::int64_t* ids,
               std::int64_t* labels) {
  const std::vector<std::int64_t> keys = draws.different(options.keys, options.pairs);
  const std::vector<std::int64_t> deal = draws.different(options.pairs, options.pairs);
  const std::vector<std::int64_t> names = draws.different(options.values, options.values);
  const auto value_of = [&](std::int64_t pair) {
    return names[static_cast<std::size_t>(deal[static_cast<std::size_t>(pair)] % options.values)];
  };
  for (std::int64_t i = 0; i < options.pairs; ++i) {
    ids[i] = keys[static_cast<std::size_t>(i)] * options.values + value_of(i);
    labels[i] = CrossEntropyOptions().ignore_index;
  }
  const std::int64_t asked = draws.below(options.pairs);
  ids[options.pairs] = options.keys * options.values + keys[static_cast<std::size_t>(asked)];
  labels[options.pairs] = options.shuffled ? draws.below(options.values) : value_of(asked);
}

}  // namespace

std::int64_t recall_vocabulary(const RecallOptions& options) {
  check(options);
  return options.keys * options.values + options.keys;
}

double recall_guess(const RecallOptions& options) {
  check(options);
  return std::log(static_cast<double>(options.values));
}

RecallBatch recall_batch(const RecallOptions& options, std::int64_t index) {
  check(options);
  if (index < 0) {
    throw InvalidArgument("[recall] batch " + std::to_string(index) + ": counted from 0");
  }
  const std::int64_t tokens = options.pairs + 1;
  RecallBatch batch{Tensor(DType::int64, {options.batch, tokens}),
                    Tensor(DType::int64, {options.batch, tokens})};
  auto* ids = batch.ids.data<std::int64_t>();
  auto* labels = batch.labels.data<std::int64_t>();
  for (std::int64_t row = 0; row < options.batch; ++row) {
    write_row(options, RowDraws(options.seed, index, row), ids + row * tokens,
              labels + row * tokens);
  }
  return batch;
}

}  // namespace volvelle
