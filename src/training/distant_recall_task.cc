#include "volvelle/training/distant_recall_task.h"

#include <string>
#include <utility>
#include <vector>

#include "training/row_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

void check(const DistantRecallOptions& options) {
  const std::pair<const char*, std::int64_t> counts[] = {
      {"fillers", options.fillers}, {"names", options.names},   {"values", options.values},
      {"pause", options.pause},     {"tokens", options.tokens}, {"batch", options.batch}};
  constexpr std::int64_t kMost = 1 << 20;
  for (const auto& [name, count] : counts) {
    if (count >= 1 && count <= kMost) continue;
    throw InvalidArgument("[distant recall] " + std::string(name) + " " + std::to_string(count) +
                          " must lie between 1 and " + std::to_string(kMost));
  }
  if (options.values < 2) {
    throw InvalidArgument("[distant recall] with a single value there is nothing to tell apart");
  }
  if (options.tokens <= options.names) {
    throw InvalidArgument("[distant recall] tokens " + std::to_string(options.tokens) +
                          " must be more than names " + std::to_string(options.names) +
                          ": all are stated before the first is asked for");
  }
}

void write_row(const DistantRecallOptions& options, RowDraws draws, std::int64_t* ids,
               std::int64_t* labels) {
  const std::int64_t questions = options.fillers + options.names * options.values;
  const std::vector<std::int64_t> names = draws.different(options.names, options.names);
  std::vector<std::int64_t> values(names.size());
  std::int64_t place = 0;
  for (const std::int64_t name : names) {
    std::int64_t& value = values[static_cast<std::size_t>(name)];
    value = draws.below(options.values);
    labels[place] = CrossEntropyOptions().ignore_index;
    ids[place++] = options.fillers + name * options.values + value;
  }
  for (; place < options.tokens; ++place) {
    if (draws.below(options.pause) != 0) {
      ids[place] = draws.below(options.fillers);
      labels[place] = CrossEntropyOptions().ignore_index;
      continue;
    }
    const std::int64_t asked = draws.below(options.names);
    ids[place] = questions + asked;
    labels[place] = questions + options.names + values[static_cast<std::size_t>(asked)];
  }
}

}  // namespace

std::int64_t distant_recall_vocabulary(const DistantRecallOptions& options) {
  check(options);
  return options.fillers + options.names * options.values + options.names + options.values;
}

DistantRecallBatch distant_recall_batch(const DistantRecallOptions& options, std::int64_t index) {
  check(options);
  if (index < 0) {
    throw InvalidArgument("[distant recall] batch " + std::to_string(index) + ": counted from 0");
  }
  DistantRecallBatch batch{Tensor(DType::int64, {options.batch, options.tokens}),
                           Tensor(DType::int64, {options.batch, options.tokens})};
  for (std::int64_t row = 0; row < options.batch; ++row) {
    write_row(options, RowDraws(options.seed, index, row),
              batch.ids.data<std::int64_t>() + row * options.tokens,
              batch.labels.data<std::int64_t>() + row * options.tokens);
  }
  return batch;
}

}  // namespace volvelle
