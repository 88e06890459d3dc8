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
                "what of a head turns: a share up to 1, or a number of columns", "1"},
    PositionKey{"scaling", kScalings, "how frequencies are changed for longer texts", "none"},
    PositionKey{"factor", "number >= 1", "how many times longer", ""},
    PositionKey{"original", "integer", "positions that the model was trained on", ""},
    PositionKey{"max", "integer", "longrope: original times the factor", ""},
    PositionKey{"low", "number > 0", "llama3: pairs of fewer turns over original are slowed fully",
                ""},
    PositionKey{"high", "number > low", "llama3: pairs of more turns are left as they are", ""},
    PositionKey{"fast", "number > slow", "yarn: pairs of more turns are left as they are", "32"},
    PositionKey{"slow", "number > 0", "yarn: pairs of fewer turns are slowed fully", "1"},
    PositionKey{"truncate", "yes|no", "yarn: bounds of the ramp are whole pairs", "yes"},
    PositionKey{"attention", "number > 0", "yarn, longrope: factor on cosines and sines",
                "by the factor"},
    PositionKey{"mscale", "number > 0", "yarn: with mscale-all, that factor as their ratio", ""},
    PositionKey{"mscale-all", "number > 0", "yarn: see mscale", ""},
    PositionKey{"short", "list", "longrope: divisors up to original, one per pair", ""},
    PositionKey{"long", "list", "longrope: divisors beyond original, one per pair", ""},
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
