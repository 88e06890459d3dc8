#pragma once

#include <string>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"
#include "volvelle/training/layer_log.h"

namespace volvelle {

/// A layer log as plain data, for the renderers of tables, CSV and charts.

/// One row a step and layer: step, loss, rate, layer, gradient_norm, weight_norm, update_norm,
/// update_ratio, activation_rms (empty without a trace). A step that was stopped before anything
/// was measured has one row without a layer.
VOLVELLE_API StudyTable layer_table(const LayerLog& log);

/// One line a layer over the steps. `figure` is a column of the table behind `layer`, of which it
/// throws InvalidArgument for others (with a suggestion).
VOLVELLE_API StudyChart layer_chart(const LayerLog& log, const std::string& figure);

}  // namespace volvelle
