#include "volvelle/base/numpy_generator.h"

#include <cmath>
#include <limits>

#include "base/bounded_integers.h"
#include "base/random_range.h"
#include "base/random_units.h"
#include "base/seed_sequence.h"
#include "base/ziggurat_tables.h"

// Compiled without contraction, as NumPy's wheels are.
namespace volvelle {
namespace {

Pcg64 seeded(std::span<const std::uint64_t> seeds) {
  const auto words = SeedSequence(entropy_words(seeds)).generate(4);
  return {Pcg64::Wide{words[0]} << 64 | words[1], Pcg64::Wide{words[2]} << 64 | words[3]};
}

}  // namespace

NumpyGenerator::NumpyGenerator(std::uint64_t seed) : bits_(seeded({&seed, 1})) {}
NumpyGenerator::NumpyGenerator(std::span<const std::uint64_t> seeds) : bits_(seeded(seeds)) {}

std::uint32_t NumpyGenerator::word32() noexcept {
  if (waiting_) {
    const std::uint32_t word = *waiting_;
    waiting_.reset();
    return word;
  }
  const std::uint64_t word = word64();
  waiting_ = static_cast<std::uint32_t>(word >> 32);
  return static_cast<std::uint32_t>(word);
}

double NumpyGenerator::unit() noexcept { return high_unit(word64()); }

void NumpyGenerator::uniform(std::span<double> out, double low, double high) {
  check_uniform_range("NumpyGenerator::uniform", low, high, std::numeric_limits<double>::max());
  const double width = high - low;
  for (double& value : out) value = low + width * unit();
}

void NumpyGenerator::uniform(std::span<float> out, double low, double high) {
  check_uniform_range("NumpyGenerator::uniform", low, high, std::numeric_limits<float>::max());
  const auto from = static_cast<float>(low);
  const float width = static_cast<float>(high) - from;
  for (float& value : out) value = from + width * high_unit(word32());
}

double NumpyGenerator::standard_normal() noexcept {
  for (;;) {
    const std::uint64_t word = word64();
    const std::size_t strip = word & 0xFFu;
    const bool negative = (word >> 8 & 1u) != 0;
    const std::uint64_t place = word >> 9 & 0xFFFFFFFFFFFFFu;
    const double distance = static_cast<double>(place) * kZigguratWidth[strip];
    const double x = negative ? -distance : distance;
    if (place < kZigguratInside[strip]) return x;
    if (strip == 0) {
      for (;;) {
        const double a = -kZigguratTailInverse * std::log1p(-unit());
        const double c = -std::log1p(-unit());
        if (c + c > a * a) {
          const double far = kZigguratTail + a;
          return (place >> 8 & 1u) != 0 ? -far : far;
        }
      }
    }
    const double below = kZigguratHeight[strip - 1] - kZigguratHeight[strip];
    if (below * unit() + kZigguratHeight[strip] < std::exp(-0.5 * x * x)) return x;
  }
}

void NumpyGenerator::normal(std::span<double> out, double mean, double deviation) {
  check_deviation("NumpyGenerator::normal", mean, deviation);
  for (double& value : out) value = mean + deviation * standard_normal();
}

void NumpyGenerator::normal(std::span<float> out, double mean, double deviation) {
  check_deviation("NumpyGenerator::normal", mean, deviation);
  for (float& value : out) value = static_cast<float>(mean + deviation * standard_normal());
}

void NumpyGenerator::integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
  check_integer_range("NumpyGenerator::integers", low, high);
  draw_integers(*this, out, low, high);
}

}  // namespace volvelle
