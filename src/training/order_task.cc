#include "volvelle/training/order_task.h"

#include <algorithm>
#include <string>
#include <utility>

#include "training/row_draws.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMost = 1 << 20;

void check(const OrderOptions& options) {
  const auto refuse = [](const std::string& text) { throw InvalidArgument("[order] " + text); };
  if (options.fillers < 1 || options.fillers > kMost) {
    refuse("fillers " + std::to_string(options.fillers) + " must lie between 1 and " +
           std::to_string(kMost));
  }
  if (options.tokens < 3 || options.tokens > kMost) {
    refuse("tokens " + std::to_string(options.tokens) + " must lie between 3 and " +
           std::to_string(kMost) + ": two marks and the question");
  }
  if (options.batch < 2 || options.batch > kMost || options.batch % 2 != 0) {
    refuse("batch " + std::to_string(options.batch) + " must be an even number up to " +
           std::to_string(kMost) + ": rows come in twins");
  }
}

}  // namespace

std::int64_t order_vocabulary(const OrderOptions& options) {
  check(options);
  return options.fillers + 3;
}

OrderBatch order_batch(const OrderOptions& options, std::int64_t index) {
  check(options);
  if (index < 0) {
    throw InvalidArgument("[order] batch " + std::to_string(index) + ": counted from 0");
  }
  OrderBatch batch{Tensor(DType::int64, {options.batch, options.tokens}),
                   Tensor(DType::int64, {options.batch, options.tokens})};
  auto* ids = batch.ids.data<std::int64_t>();
  auto* labels = batch.labels.data<std::int64_t>();
  std::fill_n(labels, batch.labels.size(), CrossEntropyOptions().ignore_index);
  const std::int64_t last = options.tokens - 1;
  for (std::int64_t row = 0; row < options.batch; row += 2) {
    RowDraws draws(options.seed, index, row);
    std::int64_t* one = ids + row * options.tokens;
    std::int64_t* twin = one + options.tokens;
    for (std::int64_t i = 0; i < last; ++i) one[i] = draws.below(options.fillers);
    one[last] = options.fillers + 2;
    std::copy_n(one, options.tokens, twin);
    const std::vector<std::int64_t> places = draws.different(last, 2);
    for (std::int64_t mark = 0; mark < 2; ++mark) {
      one[places[static_cast<std::size_t>(mark)]] = options.fillers + mark;
      twin[places[static_cast<std::size_t>(mark)]] = options.fillers + 1 - mark;
    }
    const std::int64_t first = places[0] < places[1] ? 0 : 1;
    labels[row * options.tokens + last] = options.fillers + first;
    labels[(row + 1) * options.tokens + last] = options.fillers + 1 - first;
  }
  return batch;
}

}  // namespace volvelle
