// Sequences that grow in a cache, beside the full pass over what they hold.
#include <algorithm>

#include "check/positions/measurements.h"
#include "tensor/slice.h"

namespace volvelle::positions {
namespace {

constexpr std::int64_t kTokens = 13;
constexpr std::int64_t kKept = 5;  // when tokens are forgotten

// Logits (B,V) of the last of the first `count` tokens, from a whole pass over these.
Tensor last_of_pass(const PositionSubject& subject, const View& ids, std::int64_t count) {
  const Tensor all = subject.logits(subject.model(), slice(ids, 1, 0, count));
  return copy_of(slice(all.view(), 1, count - 1, 1)).reshaped({ids.shape()[0], kVocabulary});
}

ForwardOptions quietly(const PositionSubject& subject) {
  ForwardOptions how;
  how.threads = subject.threads;
  return how;
}

}  // namespace

double cache_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const Tensor ids = subject.ids(2, kTokens, 3);
  ModelCache cache(model, {.capacity = 1024});
  std::vector<Sequence> sequences{cache.add(), cache.add()};
  double worst = 0;
  const auto step = [&](std::int64_t t) {
    const Tensor now = subject.operation.extend(model, slice(ids.view(), 1, t, 1), cache, sequences,
                                                {}, quietly(subject));
    const Tensor whole = last_of_pass(subject, ids.view(), t + 1);
    worst = std::max(worst, distance(now.view(), whole.view()));
  };
  for (std::int64_t t = 0; t < kTokens; ++t) step(t);
  // What was forgotten and read again, in a copy, gives the same once more.
  for (Sequence& sequence : sequences) {
    sequence = cache.fork(sequence);
    cache.truncate(sequence, std::min<std::int64_t>(kKept, cache.length(sequence)));
  }
  for (std::int64_t t = kKept; t < kTokens; ++t) step(t);
  return worst;
}

double chunk_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const Tensor ids = subject.ids(2, kTokens, 4);
  const Tensor whole = last_of_pass(subject, ids.view(), kTokens);
  double worst = 0;
  for (const std::int64_t chunk : {1, 3, 5, 12, 0}) {
    ModelCache cache(model, {.capacity = 512});
    const std::vector<Sequence> sequences{cache.add(), cache.add()};
    const Tensor logits = subject.operation.extend(model, ids.view(), cache, sequences,
                                                   {.chunk = chunk}, quietly(subject));
    worst = std::max(worst, distance(logits.view(), whole.view()));
  }
  return worst;
}

}  // namespace volvelle::positions
