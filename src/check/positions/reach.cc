// Far positions: where a scheme ends, and what half precision makes of them.
#include <algorithm>
#include <limits>
#include <string>

#include "check/positions/measurements.h"
#include "volvelle/base/error.h"

namespace volvelle::positions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kTokens = 12;

// Tokens behind each other, the last of them at `last`.
Tensor up_to(std::int64_t last) { return counted(1, kTokens, last - kTokens + 1); }

}  // namespace

double end_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const Tensor ids = subject.ids(1, kTokens, 7);
  const std::int64_t end = subject.traits.positions;
  const Tensor last = up_to(end < 0 ? 100000 : end - 1);
  const Tensor logits = subject.logits(model, ids.view(), {.positions = last.view()});
  if (distance(logits.view(), logits.view()) != 0) return kInfinity;  // not finite
  if (end < 0) return 0;
  const Tensor beyond = up_to(end);
  try {
    subject.logits(model, ids.view(), {.positions = beyond.view()});
  } catch (const InvalidArgument& refusal) {
    const std::string says = refusal.what();
    return says.find(std::to_string(end)) != std::string::npos ? 0 : kInfinity;
  }
  return kInfinity;
}

double half_precision_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const Tensor ids = subject.ids(1, kTokens, 8);
  const std::int64_t end = subject.traits.positions;
  const Tensor far = up_to(end < 0 ? 20003 : std::min<std::int64_t>(20003, end - 1));
  const Tensor full = subject.logits(model, ids.view(), {.positions = far.view()});
  const Tensor half = subject.logits(model, ids.view(), {.positions = far.view()}, DType::bfloat16);
  return distance(half.view(), full.view());
}

}  // namespace volvelle::positions
