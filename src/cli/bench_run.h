#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "volvelle/measure/machine.h"

namespace volvelle::cli {

/// One benchmark's part in a run.
template <class Case, class Row>
struct Benchmark {
  std::string title;
  std::vector<std::string> titles;
  std::vector<Case> cases;
  std::function<std::string(const Case&)> name;
  std::function<Row(const Case&, const MeasureOptions&)> measure;
  std::function<std::vector<std::string>(const Row&)> cells;
  std::function<void(JsonWriter&, const Row&)> write;
};

/// Measures the machine, then case by case, and prints a table or a JSON document. An interrupt
/// waits until what was measured is printed.
template <class Case, class Row>
void run_benchmark(const Invocation& call, const BenchOptions& options,
                   const Benchmark<Case, Row>& benchmark) {
  const MeasureOptions how = options.measure_options();
  const InterruptsHeld held;
  call.remarks << "measuring the machine's peaks\n";
  const Machine machine = measure_machine(how.threads);
  BenchTable report{benchmark.title, {.titles = benchmark.titles, .rows = {}}, {}};
  const std::size_t count = benchmark.cases.size();
  for (std::size_t i = 0; i < count && !how.stopped(); ++i) {
    const Case& one = benchmark.cases[i];
    call.remarks << '[' << i + 1 << '/' << count << "] " << benchmark.name(one) << std::endl;
    const Row row = benchmark.measure(one, how);
    if (row.repetitions == 0) continue;
    report.table.rows.push_back(benchmark.cells(row));
    report.json_rows.push_back(
        [row, write = benchmark.write](JsonWriter& json) { write(json, row); });
  }
  if (options.json()) {
    write_bench_json(call.out, machine, report);
  } else {
    call.out << bench_text(machine, report);
  }
  call.out.flush();
}

}  // namespace volvelle::cli
