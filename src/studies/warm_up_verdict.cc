#include "studies/warm_up_verdict.h"

#include <algorithm>
#include <cmath>

namespace volvelle {

std::string_view name_of(RunVerdict verdict) noexcept {
  switch (verdict) {
    case RunVerdict::learned:
      return "learned";
    case RunVerdict::stuck:
      return "stuck";
    case RunVerdict::broke:
      return "broke";
  }
  return "?";
}

VerdictWatch::VerdictWatch(double first, double guess, double spread)
    : first_(first),
      guess_(guess),
      bound_(std::max(kBrokeAbove * first,
                      first + kSpreads * spread / std::sqrt(static_cast<double>(kWindow)))) {}

void VerdictWatch::add(double loss) {
  last_[static_cast<std::size_t>(count_ % kWindow)] = loss;
  ++count_;
  above_in_a_row_ = loss > bound_ ? above_in_a_row_ + 1 : 0;
  broken_ = broken_ || !std::isfinite(loss) || above_in_a_row_ >= kWindow;
}

double VerdictWatch::last_mean() const {
  const auto there = static_cast<std::size_t>(std::min<std::int64_t>(count_, kWindow));
  double sum = 0;
  for (std::size_t i = 0; i < there; ++i) sum += last_[i];
  return there == 0 ? first_ : sum / static_cast<double>(there);
}

RunVerdict VerdictWatch::verdict() const {
  const double mean = last_mean();
  if (broken_ || !(mean <= bound_)) return RunVerdict::broke;
  return mean < kLearnedBelow * guess_ ? RunVerdict::learned : RunVerdict::stuck;
}

}  // namespace volvelle
