#include <array>
#include <string>

#include "nn/positions/rotary_rules.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"

namespace volvelle {
namespace {

constexpr const char* kScalings = "none|linear|ntk|dynamic|yarn|llama3|longrope|proportional";

constexpr std::array kKeys{
    PositionKey{"base", "number > 0", "wavelengths go from 2 pi towards 2 pi times it", "10000"},
    PositionKey{"pairing", "split-half|interleaved", "which columns turn together", "split-half"},
    PositionKey{"partial", "share or columns",
                "a share of each head up to 1, or how many columns turn", "1"},
    PositionKey{"scaling", kScalings, "how frequencies are changed for longer texts", "none"},
    PositionKey{"factor", "number >= 1", "how many times longer", "",
                "linear ntk dynamic yarn llama3 longrope proportional"},
    PositionKey{"original", "integer", "positions that the model was trained on", "",
                "dynamic yarn llama3 longrope"},
    PositionKey{"max", "integer", "in place of factor: original times it", "", "longrope"},
    PositionKey{"low", "number > 0", "pairs of fewer turns over original are slowed fully", "",
                "llama3"},
    PositionKey{"high", "number > low", "pairs of more turns are left as they are", "", "llama3"},
    PositionKey{"fast", "number > slow", "pairs of more turns are left as they are", "32", "yarn"},
    PositionKey{"slow", "number > 0", "pairs of fewer turns are slowed fully", "1", "yarn"},
    PositionKey{"truncate", "yes|no", "bounds of the ramp are whole pairs", "yes", "yarn"},
    PositionKey{"attention", "number > 0", "factor on cosines and sines", "by the factor",
                "yarn longrope"},
    PositionKey{"mscale", "number > 0", "with mscale-all: the factor as a ratio", "", "yarn"},
    PositionKey{"mscale-all", "number > 0", "see mscale", "", "yarn"},
    PositionKey{"short", "list", "divisors up to original, one per pair", "", "longrope"},
    PositionKey{"long", "list", "divisors beyond original, one per pair", "", "longrope"},
};

RotaryScaling scaling_of(const SchemeSettings& settings) {
  const std::string word = settings.word("scaling", {"none", "linear", "ntk", "dynamic", "yarn",
                                                     "llama3", "longrope", "proportional"});
  for (int i = 0;; ++i) {
    if (word == word_of(static_cast<RotaryScaling>(i))) return static_cast<RotaryScaling>(i);
  }
}

void read_partial(const SchemeSettings& settings, RotaryOptions& options) {
  const double partial = settings.number("partial", 1);
  if (partial <= 1) {
    options.share = partial;
  } else {
    options.columns = settings.count("partial", 0);
  }
}

std::vector<double> list_of(const SchemeSettings& settings, const char* key) {
  std::vector<double> list = settings.list(key);
  if (settings.has(key) && list.empty()) settings.refuse(std::string(key) + " is an empty list");
  return list;
}

}  // namespace

std::span<const PositionKey> rotary_keys() { return kKeys; }

RotaryOptions rotary_options(const PositionText& text) {
  const SchemeSettings settings(text);
  RotaryOptions options{.base = settings.positive("base", 10000)};
  if (settings.word("pairing", {"split-half", "interleaved"}) == "interleaved") {
    options.pairing = RotaryPairing::interleaved;
  }
  read_partial(settings, options);
  options.scaling = scaling_of(settings);
  options.factor = settings.number("factor");
  options.original = settings.count("original");
  options.max = settings.count("max");
  options.low = settings.number("low");
  options.high = settings.number("high");
  options.fast = settings.number("fast");
  options.slow = settings.number("slow");
  if (settings.has("truncate")) options.truncate = settings.yes("truncate", true);
  options.attention = settings.number("attention");
  options.mscale = settings.number("mscale");
  options.mscale_all = settings.number("mscale-all");
  options.short_factors = list_of(settings, "short");
  options.long_factors = list_of(settings, "long");
  check_rotary(options);
  return options;
}

}  // namespace volvelle
