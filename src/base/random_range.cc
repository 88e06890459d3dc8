#include "base/random_range.h"

#include <cmath>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const char* operation, const std::string& text) {
  throw InvalidArgument("[" + std::string(operation) + "] " + text);
}

}  // namespace

void check_uniform_range(const char* operation, double low, double high, double largest) {
  if (low <= high && std::abs(low) <= largest && std::abs(high) <= largest &&
      high - low <= largest) {
    return;
  }
  refuse(operation, "low <= high, both and their difference finite, not low=" +
                        std::to_string(low) + ", high=" + std::to_string(high));
}

void check_deviation(const char* operation, double mean, double deviation) {
  if (deviation >= 0 && std::isfinite(deviation) && std::isfinite(mean)) return;
  refuse(operation, "a finite mean and a finite deviation of at least 0, not mean=" +
                        std::to_string(mean) + ", deviation=" + std::to_string(deviation));
}

void check_integer_range(const char* operation, std::int64_t low, std::int64_t high) {
  if (low < high) return;
  refuse(operation, "low < high (which is never drawn), not low=" + std::to_string(low) +
                        ", high=" + std::to_string(high));
}

void check_probability(const char* operation, double probability) {
  if (probability >= 0 && probability <= 1) return;
  refuse(operation, "a probability is from 0 to 1, not " + std::to_string(probability));
}

}  // namespace volvelle
