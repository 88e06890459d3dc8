#include "volvelle/measure/attention_bench.h"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

AttentionCase filled_in(AttentionCase shape) {
  if (shape.key_heads == 0) shape.key_heads = shape.heads;
  if (shape.keys == 0) shape.keys = shape.queries;
  const std::pair<const char*, std::int64_t> lengths[] = {
      {"batch", shape.batch},     {"heads", shape.heads}, {"key heads", shape.key_heads},
      {"queries", shape.queries}, {"keys", shape.keys},   {"head width", shape.head_width},
  };
  for (const auto& [name, length] : lengths) {
    if (length < 1) {
      throw InvalidArgument(std::string("[bench] ") + name + " " + std::to_string(length) +
                            " must be at least 1");
    }
  }
  return shape;
}

// Numbers of about unit variance from a linear congruential generator: the same on every machine.
Tensor random_array(DType dtype, const Shape& shape, std::uint64_t seed) {
  Tensor numbers(DType::float32, shape);
  float* data = numbers.data<float>();
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    float sum = 0;  // of four uniform numbers: bell-shaped, variance 4/12
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
    }
    data[i] = sum * 1.7320508f;
  }
  return dtype == DType::float32 ? numbers : converted(numbers.view(), dtype);
}

}  // namespace

double useful_operations(const AttentionCase& given) {
  const AttentionCase shape = filled_in(given);
  const std::int64_t offset = shape.keys - shape.queries;
  double pairs = 0;
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    const std::int64_t p = i + offset;
    const std::int64_t end = shape.causal ? std::min(shape.keys, p + 1) : shape.keys;
    const std::int64_t begin =
        shape.window > 0 ? std::clamp<std::int64_t>(p - shape.window + 1, 0, shape.keys) : 0;
    pairs += static_cast<double>(std::max<std::int64_t>(end - begin, 0));
  }
  return pairs * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) * 4 *
         static_cast<double>(shape.head_width);
}

AttentionFigures measure_attention(const AttentionCase& given, const MeasureOptions& options) {
  const AttentionCase shape = filled_in(given);
  const Shape queries{shape.batch, shape.heads, shape.queries, shape.head_width};
  const Shape keys{shape.batch, shape.key_heads, shape.keys, shape.head_width};
  const Tensor q = random_array(shape.dtype, queries, 1);
  const Tensor k = random_array(shape.dtype, keys, 2);
  const Tensor v = random_array(shape.dtype, keys, 3);
  Tensor output = Tensor::zeros(shape.dtype, queries);
  AttentionProblem problem;
  problem.q = q.view();
  problem.k = k.view();
  problem.v = v.view();
  problem.causal = shape.causal;
  problem.window = shape.window;
  AttentionOutputs outputs;
  outputs.output = output.mutable_view();
  AttentionOptions how;
  how.threads = resolve_threads(options.threads);

  attend(problem, outputs, how);
  AttentionFigures figures;
  figures.shape = shape;
  figures.threads = how.threads;
  figures.simd = simd_target();
  figures.max_error = check_sampled_rows(problem, output.view());

  const double operations = useful_operations(shape);
  const Timing timing = time_against_peak({.call = [&] { attend(problem, outputs, how); },
                                           .operations = operations,
                                           .dtype = shape.dtype,
                                           .threads = how.threads,
                                           .seconds = options.seconds,
                                           .stopped = options.stopped});
  figures.milliseconds = timing.seconds * 1e3;
  figures.gflops = timing.seconds > 0 ? operations / timing.seconds * 1e-9 : 0;
  figures.peak_gflops = timing.peak_gflops;
  figures.share_of_peak = timing.share_of_peak;
  figures.repetitions = timing.repetitions;
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
