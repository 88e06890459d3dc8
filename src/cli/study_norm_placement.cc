#include "cli/study_norm_placement.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/studies/norm_placement.h"

namespace volvelle::cli {
namespace {

constexpr std::array kNorms{NormKind::layer, NormKind::rms};
constexpr std::array kSchemes{Initialization::torch, Initialization::xavier,
                              Initialization::depth_scaled, Initialization::normal};
constexpr std::array kStreams{RandomStream::torch, RandomStream::numpy, RandomStream::philox};
constexpr std::array kActivations{Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                  Activation::silu, Activation::none};
constexpr std::array kLosses{PlacementLoss::labels, PlacementLoss::degenerate};
constexpr std::array kMeasures{PlacementMeasure::parameter, PlacementMeasure::stream};
constexpr std::array<std::pair<const char*, FinalNorm>, 3> kFinalNorms{
    {{"auto", FinalNorm::automatic}, {"yes", FinalNorm::yes}, {"no", FinalNorm::no}}};

// Words on the command line have hyphens.
std::string word(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == '_') c = '-';
  }
  return text;
}

template <class Values>
std::vector<std::string> words(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.push_back(word(name_of(value)));
  return names;
}

template <class Values>
auto named(const Values& values, const std::string& name) {
  for (const auto value : values) {
    if (word(name_of(value)) == name) return value;
  }
  return values[0];  // not reached: the parser took one of these words
}

std::vector<NormKind> norms_of(const std::string& text) {
  std::vector<NormKind> kinds;
  for (const std::string& name : words_of("--norm", text)) {
    bool known = false;
    for (const NormKind kind : kNorms) {
      if (name != name_of(kind)) continue;
      kinds.push_back(kind);
      known = true;
    }
    if (known) continue;
    throw UsageError("--norm takes layer, rms or both, not '" + name + "'" +
                     suggestion(name, words(kNorms)));
  }
  return kinds;
}

/// The options of this study, as they were given.
class PlacementOptions {
 public:
  void declare(CommandLine& line) {
    line.group("Stacks");
    line.text("--depths", depths_, "L,...", "layers of the stacks (12,24,48)");
    line.text("--placements", placements_, "P,...",
              "names of --list, or formulas of that form (post,pre); the others are compared with "
              "the first");
    line.text("--norm", norms_, "layer|rms|layer,rms", "the kind of norm (layer)");
    line.choice("--final-norm", final_norm_, {"auto", "yes", "no"},
                "after the last block: auto, where the stream is left un-normalised");
    line.integer("--width", width_, "C", "model width (64)");
    line.integer("--heads", heads_, "H", "attention heads (4)");
    line.integer("--feed-forward", feed_forward_, "F", "width between feed-forward layers (256)");
    line.choice("--activation", activation_, words(kActivations), "of the feed-forward (relu)");
    line.group("Initial values and input");
    line.choice("--init", initialization_, words(kSchemes), "how they are spread (torch)");
    line.integer("--seeds", seeds_, "N", "stacks of each kind (20)");
    line.integer("--seed", seed_, "S", "the first of them (0)");
    line.choice("--stream", stream_, words(kStreams), "whose random numbers (torch)");
    line.integer("--batch", batch_, "B", "sequences (8)");
    line.integer("--tokens", tokens_, "T", "tokens of each (16)");
    line.integer("--classes", classes_, "V", "labels to choose from (10)");
    line.group("What is measured");
    line.choice(
        "--loss", loss_, words(kLosses),
        "cross-entropy on random labels, or a mean square that depends on nothing (labels)");
    line.choice("--measure", measure_, words(kMeasures),
                "gradients of a parameter of each layer, or of each layer's input (parameter)");
    line.text("--parameter", parameter_, "NAME",
              "as in a layer (linear1.weight); self_attn.in_proj_bias:key takes a third of it");
    line.flag("--per-layer", per_layer_, "a table with a row for each layer");
    line.flag("--list", list_, "the placements that have names, with their formulas");
  }

  /// Throws UsageError where something was given that a list does not depend on.
  bool list() const {
    const bool more = depths_ || placements_ || norms_ || final_norm_ || width_ || heads_ ||
                      feed_forward_ || activation_ || initialization_ || seeds_ || seed_ ||
                      stream_ || batch_ || tokens_ || classes_ || loss_ || measure_ || parameter_ ||
                      per_layer_;
    if (list_ && more) throw UsageError("--list measures nothing: leave the study's options out");
    return list_;
  }

  NormPlacementOptions options() const {
    NormPlacementOptions options;
    if (depths_) options.depths = integers_of("--depths", *depths_);
    if (placements_) options.placements = words_of("--placements", *placements_);
    if (norms_) options.norms = norms_of(*norms_);
    if (final_norm_) {
      for (const auto& [name, value] : kFinalNorms) {
        if (*final_norm_ == name) options.final_norm = value;
      }
    }
    take(width_, options.width);
    take(heads_, options.heads);
    take(feed_forward_, options.feed_forward);
    take(seeds_, options.seeds);
    take(batch_, options.batch);
    take(tokens_, options.tokens);
    take(classes_, options.classes);
    options.first_seed = seed_of(seed_);
    if (activation_) options.activation = named(kActivations, *activation_);
    if (initialization_) options.initialization = named(kSchemes, *initialization_);
    if (stream_) options.stream = named(kStreams, *stream_);
    if (loss_) options.loss = named(kLosses, *loss_);
    if (measure_) options.measure = named(kMeasures, *measure_);
    if (parameter_) {
      if (options.measure == PlacementMeasure::stream) {
        throw UsageError(
            "--parameter goes with --measure parameter: --measure stream takes the "
            "gradients of the layers' inputs");
      }
      options.parameter = *parameter_;
    }
    options.per_layer = per_layer_;
    return options;
  }

 private:
  static void take(const std::optional<std::int64_t>& given, std::int64_t& to) {
    if (given) to = *given;
  }

  std::optional<std::string> depths_, placements_, norms_, final_norm_, activation_,
      initialization_, stream_, loss_, measure_, parameter_;
  std::optional<std::int64_t> width_, heads_, feed_forward_, seeds_, seed_, batch_, tokens_,
      classes_;
  bool per_layer_ = false;
  bool list_ = false;
};

}  // namespace

int run_study_norm_placement(const Invocation& call) {
  PlacementOptions given;
  StudyOptions how;
  CommandLine line(call.verb);
  given.declare(line);
  how.declare(line);
  if (!line.parse(call)) return kDone;
  if (given.list()) {
    return run_study(call, how, [](const StudyRun&) { return list_norm_placements(); });
  }
  const NormPlacementOptions options = given.options();
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_norm_placement(options, run); });
}

const char* const kStudyNormPlacementExamples =
    "volvelle study norm-placement # post against pre at 12, 24 and 48 layers, 20 seeds\n"
    "volvelle study norm-placement --placements post,pre,none --measure stream # what passes\n"
    "volvelle study norm-placement --norm layer,rms --depths 12,24 # does the kind matter?\n"
    "volvelle study norm-placement --loss degenerate # a loss that depends on nothing\n"
    "volvelle study norm-placement --list # formulas of the placements";

const char* const kStudyNormPlacementNotes =
    "\nAll stacks of a seed start from the same numbers. One seed of each kind is measured again "
    "in "
    "double; where the two differ by more than a tenth, the gradient is rounding noise and gets no "
    "reading. The control is a loss that does not depend on what goes in: it must be found out.";

}  // namespace volvelle::cli
