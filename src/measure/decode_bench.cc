#include "volvelle/measure/decode_bench.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "measure/attention_arrays.h"
#include "measure/rotation.h"
#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/key_value_cache.h"
#include "volvelle/base/error.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle {
namespace {

// Sequences of equal keys and values in one cache, as many at a time as the batch has rows.
class CachedSets {
 public:
  CachedSets(const AttentionArrays& arrays, std::size_t cold_bytes)
      : count_(sets_in_rotation(arrays.k.bytes() + arrays.v.bytes(), cold_bytes)),
        cache_(cache_options(arrays.shape, count_)) {
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
  static KeyValueCacheOptions cache_options(const AttentionCase& shape, std::size_t sets) {
    KeyValueCacheOptions options{.key_heads = shape.key_heads,
                                 .head_width = shape.head_width,
                                 .dtype = shape.dtype,
                                 .capacity = 1};
    const std::int64_t page = KeyValueCache(options).usage().page_tokens;
    options.capacity =
        static_cast<std::int64_t>(sets) * shape.batch * ((shape.keys + page - 1) / page * page);
    return options;
  }

  std::size_t count_;
  KeyValueCache cache_;
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
