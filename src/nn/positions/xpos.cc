#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "nn/positions/growing_tables.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/rotary.h"

namespace volvelle {
namespace {

constexpr std::array kKeys{
    PositionKey{"base", "number > 0", "wavelengths go from 2 pi towards 2 pi times it", "10000"},
    PositionKey{"pairing", "split-half|interleaved", "which columns turn together", "split-half"},
    PositionKey{"partial", "share or columns",
                "what of a head turns: a share up to 1, or a number of columns", "1"},
    PositionKey{"scale", "number > 0", "positions over which a pair decays by its zeta", "512"},
    PositionKey{"gamma", "number > 0", "zeta of pair i is (2i/r + gamma) / (1 + gamma)", "0.4"},
};

// Queries shrink and keys grow with their positions, so that only their distance stays in the
// product. Beyond e^80 a key would leave float32.
constexpr double kLargestExponent = 80;

struct Decay {
  std::vector<double> frequencies;
  std::vector<double> rates;  // -ln(zeta) / scale, per position
};

Decay decay_of(const SchemeSettings& settings, const RotaryOptions& options,
               std::int64_t head_width) {
  const double scale = settings.positive("scale", 512);
  const double gamma = settings.positive("gamma", 0.4);
  Decay made{.frequencies = rotary_frequencies(options, head_width).frequencies, .rates = {}};
  const auto columns = static_cast<double>(rotary_columns(options, head_width));
  for (std::size_t i = 0; i < made.frequencies.size(); ++i) {
    const double zeta = (2 * static_cast<double>(i) / columns + gamma) / (1 + gamma);
    made.rates.push_back(-std::log(zeta) / scale);
  }
  return made;
}

// Pair i of a query at n turns as rotary's and is multiplied by zeta^(n / scale); of a key at m by
// zeta^(-m / scale). Source: Sun et al. 2022, arXiv:2212.10554.
class Xpos : public PositionScheme {
 public:
  Xpos(const SchemeSettings& settings, const RotaryOptions& options, const PositionContext& context)
      : columns_(rotary_columns(options, context.head_width)), pairing_(options.pairing) {
    const Decay decay = decay_of(settings, options, context.head_width);
    positions_ = static_cast<std::int64_t>(
        std::min(kLargestExponent / decay.rates.front(), static_cast<double>(kMostTablePositions)));
    if (positions_ < 1) {
      char least[32];
      const double gamma = settings.positive("gamma", 0.4);
      std::snprintf(least, sizeof least, "%.4g", -std::log(gamma / (1 + gamma)) / kLargestExponent);
      settings.refuse("scale must be at least " + std::string(least) +
                      ": with a smaller one keys leave float32 before the second position, and no "
                      "position is left");
    }
    std::vector<double> numbers = decay.frequencies;
    numbers.insert(numbers.end(), decay.rates.begin(), decay.rates.end());
    tables_ = shared_tables("xpos", numbers, 4, columns_ / 2,
                            [decay](std::int64_t position, float* const* rows) {
                              write_row(decay, static_cast<double>(position), rows);
                            });
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::turn,
            .shift_keeps = ShiftKeeps::everything,
            .positions = positions_,
            .cost = std::to_string(2 * columns_) + " multiplications per head of q and k",
            .cache = "keys as projected: turned ones outgrow half types"};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& places) const override {
    if (places.positions > positions_ && positions_ < kMostTablePositions) {
      throw InvalidArgument("[xpos] position " + std::to_string(places.positions - 1) +
                            " is beyond the last, " + std::to_string(positions_ - 1) +
                            ": keys there would leave float32; a larger scale reaches further");
    }
    const std::vector<Tensor> found = tables_->at_least(places.positions);
    attention.rotary = {.cosines = found[0],
                        .sines = found[1],
                        .key_cosines = found[2],
                        .key_sines = found[3],
                        .pairing = pairing_};
  }

 private:
  static void write_row(const Decay& decay, double position, float* const* rows) {
    for (std::size_t i = 0; i < decay.frequencies.size(); ++i) {
      const double angle = position * decay.frequencies[i];
      // Rows are made in powers of two: those beyond the last position are never read.
      const double shrunk = std::exp(-std::min(decay.rates[i] * position, kLargestExponent));
      rows[0][i] = static_cast<float>(shrunk * std::cos(angle));
      rows[1][i] = static_cast<float>(shrunk * std::sin(angle));
      rows[2][i] = static_cast<float>(std::cos(angle) / shrunk);
      rows[3][i] = static_cast<float>(std::sin(angle) / shrunk);
    }
  }

  std::int64_t columns_, positions_ = 0;
  RotaryPairing pairing_;
  std::shared_ptr<GrowingTables> tables_;
};

}  // namespace

std::span<const PositionKey> xpos_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_xpos(const PositionText& text,
                                          const PositionContext& context) {
  return std::make_shared<Xpos>(SchemeSettings(text), rotary_options(text), context);
}

}  // namespace volvelle
