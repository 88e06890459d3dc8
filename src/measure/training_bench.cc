#include "volvelle/measure/training_bench.h"

#include <array>
#include <string>

#include "measure/peak_memory.h"
#include "measure/timed_calls.h"
#include "measure/training_check.h"
#include "measure/training_model.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

constexpr int kFirstLosses = 3;

constexpr std::array kShapes{
    TrainingShape{.name = "tiny",
                  .width = 128,
                  .heads = 4,
                  .layers = 4,
                  .vocabulary = 512,
                  .batch = 16,
                  .tokens = 128},
    TrainingShape{.name = "small",
                  .width = 256,
                  .heads = 8,
                  .layers = 6,
                  .vocabulary = 4096,
                  .batch = 8,
                  .tokens = 256},
    TrainingShape{.name = "gpt2-124m",
                  .width = 768,
                  .heads = 12,
                  .layers = 12,
                  .vocabulary = 50257,
                  .batch = 4,
                  .tokens = 256},
};

const TrainingShape& shape_named(const std::string& name) {
  std::vector<std::string> names;
  for (const TrainingShape& shape : kShapes) {
    if (name == shape.name) return shape;
    names.emplace_back(shape.name);
  }
  throw InvalidArgument("[bench] no training shape is called '" + name + "'" +
                        suggestion(name, names));
}

TrainerOptions trainer_options(const TrainingCase& one, int threads) {
  TrainerOptions options;
  options.schedule.rate = 3e-4;
  options.clip = 1;
  options.compute = one.precision;
  options.threads = threads;
  return options;
}

}  // namespace

std::span<const TrainingShape> training_shapes() { return kShapes; }

double training_operations(const TrainingShape& shape) {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const double c = number(shape.width), t = number(shape.tokens), b = number(shape.batch);
  const double matrices = number(shape.layers) * 12 * c * c + c * number(shape.vocabulary);
  const double pairs = b * t * (t + 1) / 2;
  const double forward = 2 * matrices * b * t + number(shape.layers) * 4 * c * pairs;
  return 3 * forward;
}

TrainingFigures measure_training(const TrainingCase& one, const MeasureOptions& options) {
  const TrainingShape& shape = shape_named(one.shape);
  if (one.precision != DType::float32 && one.precision != DType::bfloat16) {
    throw InvalidArgument("[bench] training in " + std::string(name_of(one.precision)) +
                          ": give float32 or bfloat16");
  }
  const double error = check_training_gradients(one.precision, options.threads);
  const PeakMemory memory;
  TrainingModel work(shape);
  Trainer trainer(work.model, trainer_options(one, options.threads));
  const auto step = [&] {
    const StepReport report = trainer.step(
        [&](std::int64_t, std::int64_t, const ForwardOptions& how) { return work.loss(how); });
    if (!report.stepped) throw InternalError("[bench] a step was stopped: " + report.trouble);
    return report.loss;
  };
  std::vector<double> losses;
  for (int i = 0; i < kFirstLosses; ++i) losses.push_back(step());
  check_first_loss(shape, losses.front());
  TrainingFigures figures;
  static_cast<Figures&>(figures) = time_calls(
      {.call = [&] { step(); }, .operations = training_operations(shape), .dtype = one.precision},
      options);
  figures.shape = one;
  figures.max_error = error;
  figures.peak_bytes = memory.bytes();
  figures.loss = losses.front();
  figures.first_losses = losses;
  const auto tokens = static_cast<double>(shape.batch * shape.tokens);
  if (figures.milliseconds > 0) figures.tokens_per_second = tokens / figures.milliseconds * 1e3;
  return figures;
}

const std::vector<TrainingCase>& training_cases() {
  static const std::vector<TrainingCase> cases = [] {
    std::vector<TrainingCase> all;
    for (const TrainingShape& shape : kShapes) {
      for (const DType precision : {DType::float32, DType::bfloat16}) {
        all.push_back({.shape = shape.name, .precision = precision});
      }
    }
    return all;
  }();
  return cases;
}

}  // namespace volvelle
