#include "volvelle/measure/position_bench.h"

#include "measure/attention_arrays.h"
#include "measure/position_work.h"
#include "measure/timed_calls.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/measure/attention_bench.h"
#include "volvelle/measure/backward_bench.h"

namespace volvelle {
namespace {

std::unique_ptr<PositionTask> task_of(const PositionCase& one, int threads) {
  switch (one.work) {
    case PositionWork::attention:
      return attention_task(one, threads);
    case PositionWork::backward:
      return backward_task(one, threads);
    case PositionWork::block:
      return block_task(one, threads);
    case PositionWork::turn:
      return turn_task(one, threads);
    case PositionWork::step:
      return step_task(one, threads);
  }
  throw InvalidArgument("[bench] no such work of positions");
}

PositionCase filled_in(PositionCase one) {
  one.shape = filled_in(one.shape);
  if (one.work != PositionWork::block && one.work != PositionWork::step) return one;
  const AttentionCase& shape = one.shape;
  const std::string what = "[bench] a " + std::string(name_of(one.work));
  if (shape.dtype != DType::float32) {
    throw InvalidArgument(what + " is measured in float32, not " +
                          std::string(name_of(shape.dtype)));
  }
  if (!shape.causal || shape.window > 0) {
    throw InvalidArgument(what + " is measured with causality and without a window");
  }
  if (one.work == PositionWork::block && shape.keys != shape.queries) {
    throw InvalidArgument(what + " attends to its own tokens: " + std::to_string(shape.queries) +
                          " queries need as many keys, not " + std::to_string(shape.keys));
  }
  const bool one_token = shape.queries == 1 && shape.batch == 1 && shape.key_heads == shape.heads;
  if (one.work == PositionWork::step && !one_token) {
    throw InvalidArgument(what + " is one query of one row, with as many key heads as heads");
  }
  return one;
}

}  // namespace

std::string_view name_of(PositionWork work) noexcept {
  switch (work) {
    case PositionWork::attention:
      return "attention";
    case PositionWork::backward:
      return "backward";
    case PositionWork::block:
      return "block";
    case PositionWork::turn:
      return "turn";
    case PositionWork::step:
      return "step";
  }
  return "?";
}

double position_operations(const PositionCase& given) {
  const PositionCase one = filled_in(given);
  const AttentionCase& shape = one.shape;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const double width = number(shape.heads * shape.head_width);
  const double key_width = number(shape.key_heads * shape.head_width);
  const double projections = 2 * width * (2 * width + 2 * key_width);  // of one token
  switch (one.work) {
    case PositionWork::attention:
      return useful_operations(shape);
    case PositionWork::backward:
      return backward_operations(shape);
    case PositionWork::block:
      return 3 * number(shape.batch * shape.queries) * projections + useful_operations(shape) +
             backward_operations(shape);
    case PositionWork::turn:  // two products and a sum for each number
      return 3 * width * number(shape.batch * shape.queries) +
             3 * key_width * number(shape.batch * shape.keys);
    case PositionWork::step:
      return number(kStepLayers) * (projections + 16 * width * width + useful_operations(shape)) +
             2 * width * number(kStepVocabulary);
  }
  return 0;
}

PositionFigures measure_positions(const PositionCase& given, const MeasureOptions& options) {
  PositionFigures figures;
  figures.one = filled_in(given);
  const ThreadScope scope(options.threads);
  const auto task = task_of(figures.one, options.threads);
  const double error = task->check();
  TimedCalls timed{.call = [&] { task->run(); },
                   .operations = position_operations(figures.one),
                   .bytes = task->bytes(),
                   .dtype = figures.one.shape.dtype};
  std::unique_ptr<PositionTask> without;
  if (figures.one.work != PositionWork::turn) {
    PositionCase plain = figures.one;
    plain.scheme = "none";
    without = task_of(plain, options.threads);
    without->check();
    timed.beside = [&] { without->run(); };
  }
  static_cast<Figures&>(figures) = time_calls(timed, options);
  figures.max_error = error;
  return figures;
}

const std::vector<std::string>& position_bench_schemes() {
  static const std::vector<std::string> schemes = {
      "none", "rotary", "alibi", "alibi(learned=yes)", "clamped", "t5"};
  return schemes;
}

const std::vector<PositionCase>& position_cases() {
  static const std::vector<PositionCase> cases = [] {
    std::vector<PositionCase> all;
    for (const PositionWork work : {PositionWork::attention, PositionWork::backward}) {
      for (const std::int64_t length : {1024, 2048, 4096}) {
        for (const std::string& scheme : position_bench_schemes()) {
          // Nothing of learned slopes shows on the way there.
          if (work == PositionWork::attention && scheme == "alibi(learned=yes)") continue;
          all.push_back({work, scheme, {.queries = length, .causal = true}});
        }
      }
      all.push_back({work, "relative", {.queries = 1024, .causal = true}});
    }
    for (const char* scheme : {"none", "rotary", "alibi", "t5"}) {
      all.push_back({PositionWork::block, scheme, {.heads = 12, .queries = 2048, .causal = true}});
    }
    for (const char* scheme : {"rotary", "rotary(pairing=interleaved)"}) {
      all.push_back({PositionWork::turn, scheme, {.queries = 32768, .causal = true}});
    }
    for (const char* scheme : {"none", "rotary", "alibi", "t5"}) {
      all.push_back({PositionWork::step, scheme, {.queries = 1, .keys = 4096, .causal = true}});
    }
    return all;
  }();
  return cases;
}

}  // namespace volvelle
