// Broken twins of attention over a cache.
#include <algorithm>
#include <vector>

#include "check/properties/twins.h"

namespace volvelle::properties {

AttentionOperation shift_cached_queries(const AttentionOperation& sound) {
  AttentionOperation twin = sound;
  twin.attend_cached = [sound](const AttentionProblem& problem, const KeyValueCache& cache,
                               std::span<const Sequence> sequences,
                               const AttentionOptions& options) {
    Setting setting{problem, {}};
    std::vector<std::int64_t> offsets;
    for (const Sequence sequence : sequences) {
      offsets.push_back(cache.length(sequence) - problem.q.shape()[2] - 1);
    }
    setting.problem.query_offset =
        setting.integers({static_cast<std::int64_t>(offsets.size())}, offsets);
    return sound.attend_cached(setting.problem, cache, sequences, options);
  };
  return twin;
}

AttentionOperation read_the_next_sequence(const AttentionOperation& sound) {
  AttentionOperation twin = sound;
  twin.attend_cached = [sound](const AttentionProblem& problem, const KeyValueCache& cache,
                               std::span<const Sequence> sequences,
                               const AttentionOptions& options) {
    std::vector<Sequence> rotated(sequences.begin(), sequences.end());
    std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
    return sound.attend_cached(problem, cache, rotated, options);
  };
  return twin;
}

}  // namespace volvelle::properties
