#include "volvelle/measure/decode_bench.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "measure/attention_arrays.h"
#include "measure/rotation.h"
#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/key_value_cache.h"
#include "volvelle/base/error.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle {
namespace {

// Sequences of equal keys and values in one cache, as many at a time as the batch has rows.
class CachedSets {
 public:
  CachedSets(const AttentionArrays& arrays, std::size_t cold_bytes)
      : cache_(cache_options(arrays.shape, cold_bytes)), count_(sets_in(arrays.shape)) {
    problem_ = arrays.problem();
    problem_.k = {};
    problem_.v = {};
    for (std::size_t set = 0; set < count_; ++set) {
      const std::size_t first = sequences_.size();
      for (std::int64_t b = 0; b < arrays.shape.batch; ++b) sequences_.push_back(cache_.add());
      cache_.append(std::span(sequences_).subspan(first), arrays.k.view(), arrays.v.view());
    }
  }

  void attend_next(const AttentionOutputs& outputs, const AttentionOptions& how) {
    const std::size_t batch = sequences_.size() / count_;
    attend(problem_, cache_, std::span(sequences_).subspan(next_ * batch, batch), outputs, how);
    next_ = (next_ + 1) % count_;
  }

  std::size_t count() const { return count_; }
  std::size_t bytes() const { return cache_.usage().bytes; }

 private:
  static std::int64_t pages_of_a_set(const AttentionCase& shape, std::int64_t page_tokens) {
    return shape.batch * ((shape.keys + page_tokens - 1) / page_tokens);
  }

  // Room for the sets of the rotation, counted in whole pages: that is what they take.
  static KeyValueCacheOptions cache_options(const AttentionCase& shape, std::size_t cold_bytes) {
    KeyValueCacheOptions options{.key_heads = shape.key_heads,
                                 .head_width = shape.head_width,
                                 .dtype = shape.dtype,
                                 .capacity = 1};
    const KeyValueCacheUsage page = KeyValueCache(options).usage();
    const std::int64_t pages = pages_of_a_set(shape, page.page_tokens);
    const std::size_t sets =
        sets_in_rotation(static_cast<std::size_t>(pages) * page.capacity_bytes, cold_bytes);
    options.capacity = static_cast<std::int64_t>(sets) * pages * page.page_tokens;
    return options;
  }

  std::size_t sets_in(const AttentionCase& shape) const {
    const KeyValueCacheUsage usage = cache_.usage();
    return static_cast<std::size_t>(usage.capacity_pages /
                                    pages_of_a_set(shape, usage.page_tokens));
  }

  KeyValueCache cache_;
  std::size_t count_;
  AttentionProblem problem_;
  std::vector<Sequence> sequences_;
  std::size_t next_ = 0;
};

}  // namespace

AttentionCase decode_case() {
  return {.heads = 8, .key_heads = 8, .queries = 1, .keys = 4096, .head_width = 128};
}

double decode_bytes(const AttentionCase& given) {
  const AttentionCase shape = filled_in(given);
  const std::int64_t first = shape.keys - shape.queries;  // where the first query stands
  const std::int64_t begin =
      shape.window > 0 ? std::clamp<std::int64_t>(first - shape.window + 1, 0, shape.keys) : 0;
  return 2 * static_cast<double>(shape.batch * shape.key_heads) *
         static_cast<double>((shape.keys - begin) * shape.head_width) *
         static_cast<double>(size_of(shape.dtype));
}

AttentionFigures measure_decode(const AttentionCase& given, const MeasureOptions& options) {
  const AttentionArrays arrays(filled_in(given));
  const AttentionCase& shape = arrays.shape;
  Tensor output = Tensor::zeros(shape.dtype, arrays.q.shape());
  AttentionOutputs outputs;
  outputs.output = output.mutable_view();
  AttentionOptions how;
  how.threads = options.threads;
  explain(arrays.problem(), how);  // refuses what attend would, before memory is filled
  CachedSets sets(arrays, options.cold_bytes);

  sets.attend_next(outputs, how);
  const double error = check_sampled_rows(arrays.problem(), output.view());
  const Tensor checked = copy_of(output.view());
  for (std::size_t i = 1; i < sets.count(); ++i) {
    sets.attend_next(outputs, how);
    if (std::memcmp(checked.raw(), output.raw(), output.bytes()) != 0) {
      throw InternalError("[bench] equal keys and values in another place gave other bits (set " +
                          std::to_string(i) + "); please report this");
    }
  }
  AttentionFigures figures{time_calls({.call = [&] { sets.attend_next(outputs, how); },
                                       .operations = useful_operations(shape),
                                       .bytes = decode_bytes(shape),
                                       .dtype = shape.dtype},
                                      options),
                           shape};
  figures.max_error = error;
  figures.cold_bytes = sets.bytes();
  return figures;
}

const std::vector<AttentionCase>& decode_cases() {
  static const std::vector<AttentionCase> cases = [] {
    std::vector<AttentionCase> all;
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      for (const std::int64_t width : {64, 128}) {
        for (const std::int64_t group : {1, 4}) {
          for (const std::int64_t keys : {1024, 4096, 16384, 32768}) {
            AttentionCase one = decode_case();
            one.dtype = dtype;
            one.heads = group * one.key_heads;
            one.keys = keys;
            one.head_width = width;
            all.push_back(one);
          }
        }
      }
    }
    return all;
  }();
  return cases;
}

}  // namespace volvelle
