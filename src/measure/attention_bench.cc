#include "volvelle/measure/attention_bench.h"

#include "measure/attention_arrays.h"
#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

double useful_operations(const AttentionCase& shape) {
  return pairs_seen(shape) * 4 * static_cast<double>(shape.head_width);
}

AttentionFigures measure_attention(const AttentionCase& given, const MeasureOptions& options) {
  const AttentionArrays arrays(filled_in(given));
  const AttentionCase& shape = arrays.shape;
  const AttentionProblem problem = arrays.problem();
  Tensor output = Tensor::zeros(shape.dtype, arrays.q.shape());
  AttentionOutputs outputs;
  outputs.output = output.mutable_view();
  AttentionOptions how;
  how.threads = options.threads;

  attend(problem, outputs, how);
  const double error = check_sampled_rows(problem, output.view());
  AttentionFigures figures{time_calls({.call = [&] { attend(problem, outputs, how); },
                                       .operations = useful_operations(shape),
                                       .dtype = shape.dtype},
                                      options),
                           shape};
  figures.max_error = error;
  return figures;
}

const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases = [] {
    std::vector<AttentionCase> all;
    for (const std::int64_t width : {64, 128}) {
      for (const std::int64_t length : {128, 512, 1024, 2048, 4096}) {
        for (const bool causal : {false, true}) {
          all.push_back({.queries = length, .head_width = width, .causal = causal});
        }
      }
    }
    all.push_back({.queries = 4096, .causal = true, .window = 256});
    all.push_back({.key_heads = 2, .causal = true});
    for (const DType dtype : {DType::float64, DType::bfloat16, DType::float16}) {
      all.push_back({.dtype = dtype});
      all.push_back({.dtype = dtype, .causal = true});
    }
    all.push_back({.heads = 1, .queries = 2, .head_width = 2});
    all.push_back({.batch = 8, .heads = 4, .queries = 16, .head_width = 16, .causal = true});
    return all;
  }();
  return cases;
}

}  // namespace volvelle
