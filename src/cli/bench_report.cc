#include "cli/bench_report.h"

#include "volvelle/report/json.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

std::string heads_text(const AttentionCase& shape) {
  const std::string heads = std::to_string(shape.heads);
  const bool grouped_heads = shape.key_heads > 0 && shape.key_heads != shape.heads;
  return grouped_heads ? heads + '/' + std::to_string(shape.key_heads) : heads;
}

std::string length_text(const AttentionCase& shape) {
  const std::string queries = std::to_string(shape.queries);
  const bool differ = shape.keys > 0 && shape.keys != shape.queries;
  return differ ? queries + 'x' + std::to_string(shape.keys) : queries;
}

std::string mask_text(const AttentionCase& shape) {
  std::string text = shape.causal ? "causal" : "";
  if (shape.window > 0) text += (text.empty() ? "w" : " w") + std::to_string(shape.window);
  return text.empty() ? "full" : text;
}

}  // namespace

std::string shape_text(const AttentionCase& shape) {
  return std::string(name_of(shape.dtype)) + " B" + std::to_string(shape.batch) + " H" +
         heads_text(shape) + " T" + length_text(shape) + " D" + std::to_string(shape.head_width) +
         ' ' + mask_text(shape);
}

std::string bench_text(const Machine& machine, const std::vector<AttentionFigures>& rows) {
  const std::string threads =
      std::to_string(machine.threads) + (machine.threads == 1 ? " thread" : " threads");
  std::string text = machine.cpu + ", " + threads + " of " + std::to_string(machine.logical_cpus) +
                     " CPUs, " + machine.simd + '\n';
  text += "  multiply-add peak  " + rounded(machine.peak_gflops_f32, 0) + " GFLOP/s float32, " +
          rounded(machine.peak_gflops_f64, 0) + " float64\n";
  text += "  memory read        " + rounded(machine.read_gbs, 1) + " GB/s\n\n";
  text += "Attention (H: query heads / key heads, T: queries x keys, w: window)\n";
  Table table{
      .titles = {"dtype", "B", "H", "T", "D", "mask", "time", "GFLOP/s", "of peak", "error"},
      .rows = {}};
  for (const AttentionFigures& row : rows) {
    const AttentionCase& shape = row.shape;
    table.rows.push_back({std::string(name_of(shape.dtype)), std::to_string(shape.batch),
                          heads_text(shape), length_text(shape), std::to_string(shape.head_width),
                          mask_text(shape), duration(row.milliseconds * 1e-3),
                          rounded(row.gflops, 1), rounded(row.share_of_peak * 100, 0) + '%',
                          rounded(row.max_error, 1)});
  }
  return text + render(table);
}

void write_bench_json(std::ostream& out, const Machine& machine,
                      const std::vector<AttentionFigures>& rows) {
  JsonWriter json(out);
  json.begin_object();
  json.key("machine").begin_object();
  json.key("cpu").value(machine.cpu);
  json.key("logical_cpus").value(machine.logical_cpus);
  json.key("threads").value(machine.threads);
  json.key("simd").value(machine.simd);
  json.key("peak_gflops_float32").value(machine.peak_gflops_f32);
  json.key("peak_gflops_float64").value(machine.peak_gflops_f64);
  json.key("read_gbs").value(machine.read_gbs);
  json.end_object();
  json.key("rows").begin_array();
  for (const AttentionFigures& row : rows) {
    const AttentionCase& shape = row.shape;
    json.begin_object();
    json.key("op").value("attention");
    json.key("dtype").value(name_of(shape.dtype));
    json.key("batch").value(shape.batch);
    json.key("heads").value(shape.heads);
    json.key("key_heads").value(shape.key_heads);
    json.key("queries").value(shape.queries);
    json.key("keys").value(shape.keys);
    json.key("head_width").value(shape.head_width);
    json.key("causal").value(shape.causal);
    json.key("window").value(shape.window);
    json.key("threads").value(row.threads);
    json.key("simd").value(row.simd);
    json.key("milliseconds").value(row.milliseconds);
    json.key("gflops").value(row.gflops);
    json.key("peak_gflops").value(row.peak_gflops);
    json.key("share_of_peak").value(row.share_of_peak);
    json.key("max_error").value(row.max_error);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace volvelle::cli
