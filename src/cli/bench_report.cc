#include "cli/bench_report.h"

#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

// Whole percent; tenths below one.
std::string percent(double share) {
  const double value = share * 100;
  return value < 0.05 ? "0%" : rounded(value, value < 0.95 ? 1 : 0) + '%';
}

std::string machine_text(const Machine& machine) {
  const std::string threads =
      std::to_string(machine.threads) + (machine.threads == 1 ? " thread" : " threads");
  std::string text = machine.cpu + ", " + threads + " of " + std::to_string(machine.logical_cpus) +
                     " CPUs, " + machine.simd + '\n';
  text += "  multiply-add peak  " + rounded(machine.peak_gflops_f32, 0) + " GFLOP/s float32, " +
          rounded(machine.peak_gflops_f64, 0) + " float64, " +
          rounded(machine.peak_gflops_bf16, 0) + " bfloat16\n";
  return text + "  memory read        " + rounded(machine.read_gbs, 1) + " GB/s\n";
}

void write_machine(JsonWriter& json, const Machine& machine) {
  json.key("machine").begin_object();
  json.key("cpu").value(machine.cpu);
  json.key("logical_cpus").value(machine.logical_cpus);
  json.key("threads").value(machine.threads);
  json.key("simd").value(machine.simd);
  json.key("peak_gflops_float32").value(machine.peak_gflops_f32);
  json.key("peak_gflops_float64").value(machine.peak_gflops_f64);
  json.key("peak_gflops_bfloat16").value(machine.peak_gflops_bf16);
  json.key("read_gbs").value(machine.read_gbs);
  json.end_object();
}

}  // namespace

std::string bench_text(const Machine& machine, const BenchTable& table) {
  return machine_text(machine) + '\n' + table.title + '\n' + render(table.table);
}

void write_bench_json(std::ostream& out, const Machine& machine, const BenchTable& table) {
  JsonWriter json(out);
  json.begin_object();
  write_machine(json, machine);
  json.key("rows").begin_array();
  for (const auto& write_members : table.json_rows) {
    json.begin_object();
    write_members(json);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::vector<std::string> peak_titles() { return {"time", "GFLOP/s", "of peak", "error"}; }

std::vector<std::string> peak_cells(const Figures& figures) {
  return {duration(figures.milliseconds * 1e-3), rounded(figures.gflops, 1),
          percent(figures.share_of_peak), rounded(figures.max_error, 1)};
}

std::vector<std::string> bandwidth_titles() { return {"time", "GB/s", "of read", "error"}; }

std::vector<std::string> bandwidth_cells(const Figures& figures) {
  return {duration(figures.milliseconds * 1e-3), rounded(figures.gigabytes_per_second, 1),
          percent(figures.share_of_bandwidth), rounded(figures.max_error, 1)};
}

void write_figures(JsonWriter& json, const Figures& figures) {
  json.key("threads").value(figures.threads);
  json.key("simd").value(figures.simd);
  json.key("milliseconds").value(figures.milliseconds);
  json.key("gflops").value(figures.gflops);
  json.key("peak_gflops").value(figures.peak_gflops);
  json.key("share_of_peak").value(figures.share_of_peak);
  if (figures.read_gbs > 0) {
    json.key("gigabytes_per_second").value(figures.gigabytes_per_second);
    json.key("read_gbs").value(figures.read_gbs);
    json.key("share_of_bandwidth").value(figures.share_of_bandwidth);
    json.key("cold_bytes").value(static_cast<std::int64_t>(figures.cold_bytes));
  }
  if (figures.ratio > 0) json.key("ratio").value(figures.ratio);
  json.key("max_error").value(figures.max_error);
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace volvelle::cli
