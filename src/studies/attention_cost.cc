#include "volvelle/studies/attention_cost.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/thread_pool.h"
#include "studies/attention_cost_reading.h"
#include "studies/attention_cost_tables.h"
#include "studies/attention_operations.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;
constexpr std::int64_t kMostMeasured = 1 << 17;  // tokens, and columns of a model that is timed

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[attention-cost] " + text);
}

void check_range(const char* name, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return;
  refuse(std::string(name) + " must be 1 to " + grouped(most) + ", not " + std::to_string(value));
}

void check_heads(const char* name, std::int64_t width, std::int64_t heads) {
  if (width % heads == 0) return;
  refuse(std::string(name) + " " + std::to_string(width) + " is not a multiple of " +
         std::to_string(heads) + " heads");
}

void check_lengths(const char* name, const std::vector<std::int64_t>& lengths, std::int64_t most) {
  if (lengths.empty() || lengths.size() > 64) {
    refuse(std::string(name) + " takes 1 to 64 lengths, not " + std::to_string(lengths.size()));
  }
  std::set<std::int64_t> seen;
  for (const std::int64_t length : lengths) {
    check_range(name, length, most);
    if (!seen.insert(length).second) {
      refuse(std::string(name) + " has " + std::to_string(length) + " twice");
    }
  }
}

void check(const AttentionCostOptions& options) {
  check_range("batch", options.batch, kMost);
  check_range("tokens", options.tokens, kMost);
  check_range("width", options.width, kMost);
  check_range("heads", options.heads, kMost);
  check_range("bytes", options.bytes, 16);
  check_heads("width", options.width, options.heads);
  check_lengths("ladder", options.ladder, kMost);
  if (!options.measure) return;
  check_range("measured width", options.measured_width, 1 << 13);
  check_range("measured heads", options.measured_heads, 1 << 10);
  check_heads("measured width", options.measured_width, options.measured_heads);
  if (options.measured_width / options.measured_heads % 2 != 0) {
    refuse("measured heads of width " +
           std::to_string(options.measured_width / options.measured_heads) +
           " are odd: turning takes columns in pairs");
  }
  check_lengths("measured tokens", options.measured_tokens, kMostMeasured);
  if (!std::isfinite(options.seconds) || options.seconds <= 0 || options.seconds > 60) {
    refuse("seconds for a time must be above 0 and at most 60, not " + shortest(options.seconds));
  }
}

void add_facts(StudyResult& result, const AttentionCostOptions& options) {
  const AttentionOperations count =
      attention_operations(options.batch, options.tokens, options.width, options.heads);
  result.facts = {
      {"batch", options.batch},
      {"tokens", options.tokens},
      {"width", options.width},
      {"heads", options.heads},
      {"projections", count.projections},
      {"attention", count.attention},
      {"attention_skipping", count.attention / 2},
      {"rotation", count.rotation},
      {"score_gib", score_bytes(options.batch, options.heads, options.tokens, options.bytes) /
                        (1024.0 * 1024 * 1024)},
      {"equal_tokens", 2 * options.width}};
}

}  // namespace

StudyResult study_attention_cost(const AttentionCostOptions& options, const StudyRun& run) {
  check(options);
  StudyResult result;
  result.name = "attention-cost";
  result.question = "From which length on does attention cost more than the projections around it?";
  result.setup = {{"one layer", "batch " + grouped(options.batch) + ", " + grouped(options.tokens) +
                                    " tokens, width " + grouped(options.width) + ", " +
                                    grouped(options.heads) + " heads"},
                  {"counted",
                   "projections 2 B T (4 C^2), scores and values 2 x 2 B T^2 C; a "
                   "multiply-add is 2 operations"}};
  add_facts(result, options);
  MeasuredCosts measured;
  measured.threads = resolve_threads(run.threads);
  if (options.measure) {
    result.setup.emplace_back("measured", "width " + grouped(options.measured_width) + ", " +
                                              std::to_string(options.measured_heads) +
                                              " heads, float32, on this machine");
    result.complete = measure_attention_costs(options, run, measured);
  }
  result.tables = attention_cost_tables(options, measured);
  result.charts = attention_cost_charts(options, measured);
  result.controls.push_back(windowed_control(options));
  result.reading = attention_cost_reading(options, measured);
  result.limits = {
      "Operations take a multiply-add as 2 and leave out the softmax, the norms and the rotation, "
      "which is B T C work and shown as a share. Not computing what a causal mask hides would "
      "halve "
      "scores and values."};
  if (options.measure) {
    result.limits.push_back(
        "Times are of this machine, at this width, and change from run to run; where the two meet "
        "depends on how close each comes to the machine's peak, which no count of operations says. "
        "Memory is read off the process in pages, so what is small reads as 0.");
  }
  return result;
}

}  // namespace volvelle
