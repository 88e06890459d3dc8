#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/stack.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle {

enum class PlacementLoss : std::uint8_t {
  labels,      ///< cross-entropy of a linear head on random labels
  degenerate,  ///< mean square of the stack's output: the same for any input behind a norm
};

enum class PlacementMeasure : std::uint8_t {
  parameter,  ///< gradients of one parameter of each layer
  stream,     ///< gradients of what comes into each layer
};

struct NormPlacementOptions {
  std::vector<std::int64_t> depths = {12, 24, 48};
  /// Names of norm_placements(), or slots; every further one is compared with the first.
  std::vector<std::string> placements = {"post", "pre"};
  std::vector<NormKind> norms = {NormKind::layer};
  Initialization initialization = Initialization::torch;
  RandomStream stream = RandomStream::torch;
  std::int64_t seeds = 20;
  std::uint64_t first_seed = 0;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t feed_forward = 256;
  std::int64_t batch = 8;
  std::int64_t tokens = 16;
  std::int64_t classes = 10;
  Activation activation = Activation::relu;
  PlacementLoss loss = PlacementLoss::labels;
  FinalNorm final_norm = FinalNorm::automatic;
  PlacementMeasure measure = PlacementMeasure::parameter;
  /// Of a layer, as the stack names it; behind the packed projections ":query", ":key" or ":value"
  /// takes that third of them.
  std::string parameter = "linear1.weight";
  bool per_layer = false;  ///< a table with a row for every layer
};

/// Does the placement of norms decide which layers get the gradient? For every depth, placement and
/// kind of norm a stack is drawn for every seed, given random tokens, and the norm of each layer's
/// gradient is taken: the ratio of the last layer's to the first's, its spread over seeds, the
/// slope over all layers, comparisons seed by seed, and the size near the output. One seed of each
/// is measured again in double: what hangs on rounding gets no reading. The control is a loss that
/// does not depend on what goes in.
///
/// All stacks of a seed start from the same numbers, drawn in the order of the PyTorch program that
/// the defaults reproduce. The result is the same for any number of threads.
///
/// Throws:  InvalidArgument: sizes that are not positive, heads that do not divide the width,
///          unknown placements or parameters (with a suggestion), no depth, placement, norm or
///          seed, one given twice, sizes that would not fit in memory (with the size).
/// Source:  Xiong et al. 2020, arXiv:2002.04745.
VOLVELLE_API StudyResult study_norm_placement(const NormPlacementOptions& options = {},
                                              const StudyRun& run = {});

/// The placements that have names, each with its formula: what `--list` prints.
VOLVELLE_API StudyResult list_norm_placements();

VOLVELLE_API std::string_view name_of(PlacementLoss loss) noexcept;
VOLVELLE_API std::string_view name_of(PlacementMeasure measure) noexcept;

}  // namespace volvelle
