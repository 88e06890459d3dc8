#include "check/gradient_faults.h"

#include <utility>

#include "check/attention_faults.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle {
namespace {

using Resolved = ResolvedAttention;

struct Entry {
  KnownFault fault;
  bool (*possible)(const Resolved&);
  bool (*concerns)(GradientOf);
  BackwardFault inside;
  Reaching reaching;
  const char* what;
};

bool always(const Resolved&) { return true; }
bool grouped(const Resolved& r) { return r.heads != r.key_heads; }
bool has_dense_bias(const Resolved& r) { return r.bias.present; }
bool capped(const Resolved& r) { return r.softcap > 0; }
bool has_sinks(const Resolved& r) { return r.sinks.present; }
bool drops(const Resolved& r) { return r.dropout > 0; }
bool turns(const Resolved& r) { return r.rotary.any(); }

bool any(GradientOf) { return true; }
bool through_scores(GradientOf of) { return of != GradientOf::v && of != GradientOf::sinks; }
bool through_products(GradientOf of) { return of == GradientOf::q || of == GradientOf::k; }
bool keys_and_values(GradientOf of) { return of == GradientOf::k || of == GradientOf::v; }
bool dense_bias(GradientOf of) { return of == GradientOf::bias; }

// One line per mistake of a backward pass that changes more than a factor.
const Entry kCatalog[] = {
    {{"delta_missing", "dS = P * dP"},
     always,
     through_scores,
     BackwardFault::delta_missing,
     Reaching::all,
     "without delta: dS = P * (dP - delta), delta = grad_output . output of the row"},
    {{"cap_slope_missing", "the soft cap's slope was left out"},
     capped,
     through_products,
     BackwardFault::cap_slope_missing,
     Reaching::all,
     "without the slope of the soft cap, 1 - tanh(s/c)^2"},
    {{"sink_missing", "the backward's weights are normalised without the sink"},
     has_sinks,
     any,
     BackwardFault::sink_missing,
     Reaching::all,
     "with weights that were normalised without the sink"},
    {{"dropout_unscaled", "what dropout keeps is not divided by 1 - p"},
     drops,
     any,
     BackwardFault::dropout_unscaled,
     Reaching::all,
     "with kept weights that were not divided by 1 - p"},
    {{"turn_back_missing", "gradients of the rows as they were turned, not turned back"},
     turns,
     through_products,
     BackwardFault::turn_back_missing,
     Reaching::all,
     "of the rows as they were turned: turn them back, by the transposed table"},
    {{"key_heads_not_summed", "one query head of a group alone reaches dK and dV"},
     grouped,
     keys_and_values,
     BackwardFault::key_heads_not_summed,
     Reaching::all,
     "from the first query head of each group alone: sum over all that read a key head"},
    {{"key_heads_not_summed", ""},
     grouped,
     keys_and_values,
     BackwardFault::none,
     Reaching::last,
     "from the last query head of each group alone: each overwrote the one before"},
    {{"bias_not_summed", "a bias's gradient is one slice of what it was broadcast along"},
     has_dense_bias,
     dense_bias,
     BackwardFault::bias_not_summed,
     Reaching::all,
     "at the first place alone of each axis along which the bias was broadcast: sum over all"},
    {{"bias_not_summed", ""},
     has_dense_bias,
     dense_bias,
     BackwardFault::none,
     Reaching::last,
     "at the last head or batch row alone along which the bias was broadcast: each overwrote the "
     "one before"},
};

// Those that are seen without another computation: gradient_factors.cc and gradient_readings.cc.
const KnownFault kFactors[] = {
    {"scale_missing", "dQ and dK without the factor scale"},
    {"scale_twice", "dQ and dK with the scale used twice"},
    {"key_heads_averaged", "dK and dV as means over the query heads of a group"},
    {"bias_averaged", "a bias's gradient as a mean over what it was broadcast along"},
    {"slope_gradient_sign", "the gradient of +slope * |p - j|"},
    {"gradient_sign", "a gradient with its sign turned"},
    {"gradient_zero", "a gradient that was not computed"},
    {"gradient_scaled", "a gradient times a number"},
    {"grad_output_scaled", "all gradients times one number"},
    {"gradients_exchanged", "a gradient in the place of another"},
};

constexpr std::string_view kForwardSentence = "your result equals attention ";

}  // namespace

std::vector<GradientFaultCandidate> gradient_faults(const AttentionProblem& problem,
                                                    const ResolvedAttention& resolved) {
  std::vector<GradientFaultCandidate> candidates;
  for (const Entry& entry : kCatalog) {
    if (!entry.possible(resolved)) continue;
    candidates.push_back({.fault = entry.fault.name,
                          .what = entry.what,
                          .problem = problem,
                          .concerns = entry.concerns,
                          .inside = entry.inside,
                          .reaching = entry.reaching});
  }
  for (FaultCandidate& forward : attention_faults(problem, resolved)) {
    const bool plain = forward.inside == AttentionFault::none && forward.order == RowOrder::same &&
                       forward.mask == MaskChange::none && forward.empty == EmptyRow::zero;
    if (!plain || !forward.sentence.starts_with(kForwardSentence)) continue;
    candidates.push_back({.fault = forward.fault,
                          .what = forward.sentence.substr(kForwardSentence.size()),
                          .other_attention = true,
                          .problem = std::move(forward.problem),
                          .owned = std::move(forward.owned)});
  }
  return candidates;
}

const std::vector<KnownFault>& known_gradient_faults() {
  static const std::vector<KnownFault> faults = [] {
    std::vector<KnownFault> all(std::begin(kFactors), std::end(kFactors));
    for (const Entry& entry : kCatalog) {
      if (*entry.fault.meaning != '\0') all.push_back(entry.fault);
    }
    return all;
  }();
  return faults;
}

}  // namespace volvelle
