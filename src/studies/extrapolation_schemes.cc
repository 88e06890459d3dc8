#include "studies/extrapolation_schemes.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr const char* kRescaled = "rotary-yarn";

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[extrapolation] " + text);
}

/// Settings that the study gives where a scheme stands by its name alone.
std::vector<PositionSetting> standard_settings(const std::string& scheme, std::int64_t train) {
  const auto whole = [](std::int64_t value) { return std::to_string(value); };
  if (scheme == "learned") return {{"rows", whole(train)}};
  // Half of what is trained, so that the shared numbers of far offsets are trained, too. Half of
  // the buckets have a distance each, and max must lie beyond these.
  if (scheme == "t5") {
    return {{"buckets", train >= 32 ? "16" : train >= 16 ? "8" : "4"}, {"max", whole(train / 2)}};
  }
  if (scheme == "clamped" || scheme == "relative") {
    return {{"max", whole(std::max<std::int64_t>(1, train / 4))}};
  }
  return {};
}

const PositionEntry& entry_of(const std::string& scheme) {
  std::vector<std::string> names{kRescaled};
  for (const PositionEntry& entry : position_schemes()) {
    if (entry.name == scheme) return entry;
    names.emplace_back(entry.name);
  }
  refuse("unknown scheme '" + scheme + "'" + suggestion(scheme, names) + "; see: volvelle schemes");
}

/// Offsets beyond this one share a number; absent where the scheme has none such.
std::optional<std::int64_t> largest_distance(const PositionText& text) {
  if (text.scheme != "t5" && text.scheme != "clamped" && text.scheme != "relative") return {};
  std::string value;
  for (const PositionKey& key : entry_of(text.scheme).keys) {
    if (std::string(key.name) == "max") value = key.standard;
  }
  for (const PositionSetting& setting : text.settings) {
    if (setting.key == "max") value = setting.value;
  }
  std::int64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size()) return {};
  return number;
}

Contestant contestant_of(const ExtrapolationOptions& options, const std::string& name) {
  Contestant contestant{.name = name, .trained = name};
  contestant.rescaled = name == kRescaled;
  PositionText text = parse_positions(contestant.rescaled ? "rotary" : name);
  entry_of(text.scheme);
  if (text.settings.empty()) text.settings = standard_settings(text.scheme, options.train);
  contestant.trained = to_text(text);
  if (const auto largest = largest_distance(text); largest && *largest > options.train) {
    refuse(contestant.trained + " tells distances up to " + grouped(*largest) +
           " apart, of which training on " + grouped(options.train) +
           " tokens shows none beyond: max must be the training length at most");
  }
  const std::int64_t head_width = options.width / std::max<std::int64_t>(1, options.heads);
  contestant.facts =
      make_positions(text,
                     {.width = options.width, .heads = options.heads, .head_width = head_width})
          ->facts();
  if (!contestant.reaches(options.train)) {
    refuse(contestant.trained + " has fewer positions than the training length " +
           grouped(options.train));
  }
  return contestant;
}

}  // namespace

std::string Contestant::tested(std::int64_t tokens, std::int64_t train) const {
  if (!rescaled || tokens <= train) return trained;
  PositionText text = parse_positions(trained);
  const double factor = static_cast<double>(tokens) / static_cast<double>(train);
  text.settings.push_back({"scaling", "yarn"});
  text.settings.push_back({"factor", shortest(factor)});
  text.settings.push_back({"original", std::to_string(train)});
  return to_text(text);
}

bool Contestant::reaches(std::int64_t tokens) const {
  return !facts.positions || *facts.positions >= tokens;
}

std::vector<Contestant> contestants(const ExtrapolationOptions& options) {
  std::vector<Contestant> all;
  std::set<std::string> seen;
  for (const std::string& name : options.schemes) {
    if (!seen.insert(name).second) refuse("scheme " + name + " is given twice");
    all.push_back(contestant_of(options, name));
  }
  if (all.empty()) refuse("no schemes given");
  return all;
}

LanguageModelOptions contest_model(const ExtrapolationOptions& options, std::int64_t vocabulary,
                                   const std::string& positions) {
  return {.stack = {.layers = options.layers,
                    .width = options.width,
                    .heads = options.heads,
                    .feed_forward =
                        options.feed_forward != 0 ? options.feed_forward : 2 * options.width,
                    .placement = "pre",
                    .causal = true},
          .vocabulary = vocabulary,
          .positions = positions,
          .tied = false};
}

}  // namespace volvelle
