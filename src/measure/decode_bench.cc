#include "volvelle/measure/decode_bench.h"

#include <algorithm>
#include <cstring>

#include "measure/attention_arrays.h"
#include "measure/rotation.h"
#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle {
namespace {

// Equal keys and values in different places.
class Sets {
 public:
  Sets(const AttentionArrays& first, std::size_t cold_bytes) : problem_(first.problem()) {
    const std::size_t bytes = first.k.bytes() + first.v.bytes();
    const std::size_t count = sets_in_rotation(bytes, cold_bytes);
    sets_.push_back({first.k, first.v});
    while (sets_.size() < count) {
      sets_.push_back({copy_of(first.k.view()), copy_of(first.v.view())});
    }
    bytes_ = bytes * count;
  }

  void attend_next(const AttentionOutputs& outputs, const AttentionOptions& how) {
    problem_.k = sets_[next_].k.view();
    problem_.v = sets_[next_].v.view();
    next_ = (next_ + 1) % sets_.size();
    attend(problem_, outputs, how);
  }

  std::size_t count() const { return sets_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Set {
    Tensor k, v;
  };
  AttentionProblem problem_;
  std::vector<Set> sets_;
  std::size_t next_ = 0;
  std::size_t bytes_ = 0;
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
  Sets sets(arrays, options.cold_bytes);

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
