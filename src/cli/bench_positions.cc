#include "cli/bench_positions.h"

#include <algorithm>
#include <optional>

#include "cli/bench_run.h"
#include "cli/bench_shape.h"
#include "cli/exit_code.h"
#include "volvelle/measure/position_bench.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

constexpr PositionWork kWorks[] = {PositionWork::attention, PositionWork::backward,
                                   PositionWork::block, PositionWork::turn, PositionWork::step};

struct Choice {
  std::optional<std::string> work, scheme;
  ShapeOptions shape;
};

void declare(CommandLine& line, Choice& choice) {
  std::vector<std::string> works;
  for (const PositionWork work : kWorks) works.emplace_back(name_of(work));
  line.group("What (neither of these: all of the table's)");
  line.choice("--work", choice.work, works, "only this");
  line.text("--scheme", choice.scheme, "TEXT",
            "only this scheme; any of `volvelle schemes` that enters attention");
  choice.shape.declare(line, PositionCase{}.shape, {"float32", "float64", "float16", "bfloat16"});
}

// A shape serves the work that can be done in it.
bool serves(PositionWork work, const AttentionCase& shape) {
  if (work != PositionWork::block && work != PositionWork::step) return true;
  const bool plain = shape.dtype == DType::float32 && shape.causal && shape.window == 0;
  if (work == PositionWork::step) return plain && shape.queries == 1 && shape.keys > 0;
  return plain && shape.queries > 1 && (shape.keys == 0 || shape.keys == shape.queries);
}

bool turns_rows(const std::string& scheme) {
  return position_scheme(parse_positions(scheme).scheme).door == PositionDoor::turn;
}

std::vector<PositionCase> cases_of(const Choice& choice) {
  std::vector<PositionCase> chosen = position_cases();
  if (choice.shape.given()) {
    chosen.clear();
    for (const PositionWork work : kWorks) {
      if (!choice.work && !serves(work, choice.shape.shape())) continue;
      for (const std::string& scheme : position_bench_schemes()) {
        if (work == PositionWork::turn && !turns_rows(scheme)) continue;
        chosen.push_back({work, scheme, choice.shape.shape()});
      }
    }
  }
  if (choice.work) {
    std::erase_if(chosen,
                  [&](const PositionCase& one) { return name_of(one.work) != *choice.work; });
  }
  if (!choice.scheme) return chosen;
  // One of each kind of work and shape, whether the table has the scheme or not.
  std::vector<PositionCase> only;
  for (PositionCase one : chosen) {
    const bool turns = one.work == PositionWork::turn;
    if (turns && !choice.work && !turns_rows(*choice.scheme)) continue;
    if (one.scheme != (turns ? "rotary" : "none")) continue;
    one.scheme = *choice.scheme;
    only.push_back(one);
  }
  return only;
}

std::string name(const PositionCase& one) {
  return std::string(name_of(one.work)) + ' ' + one.scheme + ' ' + shape_text(one.shape);
}

std::vector<std::string> cells(const PositionFigures& row) {
  const bool reads = row.read_gbs > 0;
  const std::vector<std::string> shape = shape_cells(row.one.shape);
  const std::vector<std::string> of = reads ? bandwidth_cells(row) : peak_cells(row);
  return {std::string(name_of(row.one.work)),
          row.one.scheme,
          shape[2],
          shape[3],
          shape[4],
          of[0],
          row.ratio > 0 ? rounded(row.ratio, 2) : "",
          of[2] + (reads ? " read" : " peak"),
          of[3]};
}

void write(JsonWriter& json, const PositionFigures& row) {
  json.key("op").value("positions");
  json.key("work").value(name_of(row.one.work));
  json.key("scheme").value(row.one.scheme);
  write_shape(json, row.one.shape);
  write_figures(json, row);
}

std::string title(const Choice& choice) {
  const AttentionCase shape = choice.shape.given() ? choice.shape.shape() : PositionCase{}.shape;
  return "Positions, " + std::string(name_of(shape.dtype)) + ' ' +
         (shape.window > 0 ? "window " + std::to_string(shape.window) + ' ' : "") +
         (shape.causal ? "causal" : "full") + " (ratio: over none)";
}

}  // namespace

int run_bench_positions(const Invocation& call) {
  Choice choice;
  BenchOptions options;
  CommandLine line(call.verb);
  declare(line, choice);
  options.declare(line);
  if (!line.parse(call)) return kDone;
  run_benchmark<PositionCase, PositionFigures>(
      call, options,
      {.title = title(choice),
       .titles = {"work", "scheme", "H", "T", "D", "time", "ratio", "share of", "error"},
       .cases = cases_of(choice),
       .name = name,
       .measure = measure_positions,
       .cells = cells,
       .write = write});
  return kDone;
}

const char* const kBenchPositionsExamples =
    "volvelle bench positions --threads 1 # the table on one thread\n"
    "volvelle bench positions --work backward --scheme alibi # three lengths\n"
    "volvelle bench positions --scheme 't5(max=32)' --queries 1000 --causal # one shape\n"
    "volvelle bench positions --work step --json # for a program to read";

const char* const kBenchPositionsNotes =
    "\nEach case and its twin without positions are checked, then called in turn; the ratio is the "
    "median of time over the twin's right after. Attention and its gradients (backward: of q, k, v "
    "and of what the scheme lets train) are held against the oracle on sampled rows. A block is "
    "attention between its projections, forward and backward, of width H D; output and gradients "
    "are held against its twin in float64. A step is one more token of a model of 6 layers of that "
    "width behind a cache of the keys, held against the full pass; its share is of the time that "
    "weights and cache take to be read once. Turns of queries and keys alone are held against "
    "rows turned in double; their share counts each number read once and written once. Other "
    "shares are of the multiply-add peak, operations "
    "counted as without positions.";

}  // namespace volvelle::cli
