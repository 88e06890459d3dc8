#include "cli/bench_training.h"

#include <cmath>
#include <optional>

#include "cli/array_roles.h"
#include "cli/bench_run.h"
#include "cli/exit_code.h"
#include "volvelle/measure/training_bench.h"
#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

struct Choice {
  std::optional<std::string> shape, precision;
};

void declare(CommandLine& line, Choice& choice) {
  std::vector<std::string> names;
  for (const TrainingShape& shape : training_shapes()) names.emplace_back(shape.name);
  line.group("The model (none of these: a table)");
  line.choice("--shape", choice.shape, names, "only this one");
  line.choice("--precision", choice.precision, {"float32", "bfloat16"},
              "what products multiply: only this one");
}

std::vector<TrainingCase> cases_of(const Choice& choice) {
  std::vector<TrainingCase> chosen = training_cases();
  std::erase_if(chosen, [&](const TrainingCase& one) {
    return (choice.shape && one.shape != *choice.shape) ||
           (choice.precision && one.precision != dtype_named(*choice.precision));
  });
  return chosen;
}

std::string name(const TrainingCase& one) {
  return one.shape + ' ' + std::string(name_of(one.precision));
}

std::vector<std::string> cells(const TrainingFigures& row) {
  const double megabytes = static_cast<double>(row.peak_bytes) / 1e6;
  std::vector<std::string> shown = {row.shape.shape, std::string(name_of(row.shape.precision))};
  std::vector<std::string> of_peak = peak_cells(row);
  of_peak.insert(of_peak.begin() + 1, grouped(std::llround(row.tokens_per_second)));
  of_peak.back() = grouped(std::llround(megabytes)) + " MB";
  of_peak.push_back(rounded(row.loss, 4));
  return joined(shown, of_peak);
}

void write(JsonWriter& json, const TrainingFigures& row) {
  json.key("op").value("training");
  json.key("shape").value(row.shape.shape);
  json.key("precision").value(name_of(row.shape.precision));
  json.key("tokens_per_second").value(row.tokens_per_second);
  json.key("peak_bytes").value(static_cast<std::int64_t>(row.peak_bytes));
  json.key("loss").value(row.loss);
  json.key("first_losses").begin_array();
  for (const double loss : row.first_losses) json.value(loss);
  json.end_array();
  write_figures(json, row);
}

}  // namespace

int run_bench_training(const Invocation& call) {
  Choice choice;
  BenchOptions options;
  CommandLine line(call.verb);
  declare(line, choice);
  options.declare(line);
  if (!line.parse(call)) return kDone;
  run_benchmark<TrainingCase, TrainingFigures>(
      call, options,
      {.title = "Training steps: forward, cross-entropy, backward, clipping, AdamW",
       .titles = {"shape", "precision", "time", "tokens/s", "GFLOP/s", "of peak", "memory", "loss"},
       .cases = cases_of(choice),
       .name = name,
       .measure = measure_training,
       .cells = cells,
       .write = write});
  return kDone;
}

const char* const kBenchTrainingExamples =
    "volvelle bench training --shape tiny # both precisions\n"
    "volvelle bench training --shape gpt2-124m --precision bfloat16 # a minute or less\n"
    "volvelle bench training --threads 2 --json # all shapes, for a program to read";

const char* const kBenchTrainingNotes =
    "\nCausal pre-LN models with a final norm, GELU (tanh), F = 4C, biases, learned positions and "
    "a "
    "head that is the embedding: tiny (C 128, H 4, L 4, V 512, B 16, T 128), small (256, 8, 6, "
    "4096, "
    "8, 256) and gpt2-124m (768, 12, 12, 50257, 4, 256). Before a row is timed, the gradients of a "
    "model of the tiny shape are compared with those of its twin in float64 and the first loss "
    "with log V. Medians of whole "
    "steps; useful operations: forward and, twice that, backward, with the pairs that causality "
    "leaves. Weights, moments and sums are float32 in either precision.\nMemory is the most that "
    "was "
    "resident at once beyond what was before the row: weights, gradients, moments, activations.";

}  // namespace volvelle::cli
