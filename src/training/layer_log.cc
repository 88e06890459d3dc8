#include "volvelle/training/layer_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "volvelle/base/error.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

bool is_number(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Whether the layer is one of a row of alike ones.
bool is_numbered(const std::string& layer) {
  const std::size_t dot = layer.rfind('.');
  return is_number(std::string_view(layer).substr(dot == std::string::npos ? 0 : dot + 1));
}

// Parameters of a layer need not follow each other; a layer stands where its first one does.
std::vector<LayerFigures> by_layer(const std::vector<ParameterFigures>& parameters) {
  std::vector<LayerFigures> layers;
  for (const ParameterFigures& one : parameters) {
    const std::string name = layer_of(one.name);
    auto at = std::find_if(layers.begin(), layers.end(),
                           [&](const LayerFigures& layer) { return layer.layer == name; });
    if (at == layers.end()) at = layers.insert(layers.end(), LayerFigures{.layer = name});
    at->gradient_norm = std::hypot(at->gradient_norm, one.gradient_norm);
    at->weight_norm = std::hypot(at->weight_norm, one.weight_norm);
    at->update_norm = std::hypot(at->update_norm, one.update_norm);
  }
  for (LayerFigures& layer : layers) {
    layer.update_ratio = layer.update_norm == 0 ? 0 : layer.update_norm / layer.weight_norm;
  }
  return layers;
}

double root_mean_square(const Variable& x) {
  return x.size() == 0 ? 0 : norm(x.view()) / std::sqrt(static_cast<double>(x.size()));
}

void add_activations(std::vector<LayerFigures>& layers, const StackTrace& trace) {
  std::size_t next = 0;
  for (LayerFigures& layer : layers) {
    if (!is_numbered(layer.layer)) continue;
    ++next;
    if (next < trace.inputs.size()) layer.activation_rms = root_mean_square(trace.inputs[next]);
  }
  if (next + 1 != trace.inputs.size()) {
    throw InvalidArgument("[layer log] the trace has " + std::to_string(trace.inputs.size()) +
                          " streams, and the report " + std::to_string(next) +
                          " numbered layers, which have one more");
  }
}

}  // namespace

std::string layer_of(std::string_view parameter) {
  const std::size_t last_dot = parameter.rfind('.');
  if (last_dot == std::string_view::npos) return std::string(parameter);
  for (std::size_t end = last_dot; end != std::string_view::npos && end > 0;) {
    const std::size_t dot = parameter.rfind('.', end - 1);
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    if (is_number(parameter.substr(start, end - start))) {
      return std::string(parameter.substr(0, end));
    }
    end = dot;
  }
  return std::string(parameter.substr(0, last_dot));
}

void LayerLog::add(const StepReport& report, const StackTrace* trace) {
  if (report.parameters.empty() && report.stepped) {
    throw InvalidArgument("[layer log] the report of step " + std::to_string(report.step) +
                          " has no figures of parameters: set measure_layers of the trainer");
  }
  LayerRecord record{.step = report.step,
                     .loss = report.loss,
                     .rate = report.rate,
                     .gradient_norm = report.gradient_norm,
                     .stepped = report.stepped,
                     .trouble = report.trouble,
                     .layers = by_layer(report.parameters)};
  if (trace != nullptr && !record.layers.empty()) add_activations(record.layers, *trace);
  records_.push_back(std::move(record));
}

std::vector<std::string> LayerLog::layers() const {
  std::vector<std::string> names;
  for (const LayerRecord& record : records_) {
    if (record.layers.empty()) continue;
    for (const LayerFigures& layer : record.layers) names.push_back(layer.layer);
    break;
  }
  return names;
}

}  // namespace volvelle
