#include "cli/position_options.h"

#include <algorithm>
#include <string_view>

#include "volvelle/nn/positions/catalog.h"

namespace volvelle::cli {
namespace {

// The key that --rotary itself gives.
constexpr std::string_view kPairing = "pairing";

// What stands behind the option's name in help.
std::string shown(const PositionKey& key) {
  const std::string values = key.values;
  if (values.find('|') != std::string::npos) return values;
  if (values.starts_with("integer")) return "N";
  return values.starts_with("list") ? "X,X,.." : "X";
}

std::string sentence(const PositionKey& key) {
  std::string text = key.sentence;
  if (*key.standard != '\0') text += std::string(" (") + key.standard + ")";
  return text;
}

}  // namespace

bool PositionOptions::has_settings() const {
  return std::any_of(settings.begin(), settings.end(),
                     [](const RotarySetting& setting) { return setting.value.has_value(); });
}

std::string PositionOptions::text() const {
  if (scheme) return *scheme;
  if (!rotary) return "";
  PositionText text{.scheme = "rotary", .settings = {{std::string(kPairing), *rotary}}};
  for (const RotarySetting& setting : settings) {
    if (setting.value) text.settings.push_back({setting.key, *setting.value});
  }
  return to_text(text);
}

void declare(CommandLine& line, PositionOptions& o) {
  line.group("Positions");
  line.text("--positions", o.positions, "FILE|N,N,..",
            "whole numbers >= 0, (T) or (B,T): where the tokens stand (0, 1, 2, ...); with as many "
            "keys as queries they hold for both");
  line.text("--key-positions", o.key_positions, "FILE|N,N,..", "the same for keys alone");
  line.choice("--rotary", o.rotary, {"split-half", "interleaved"},
              "turns queries and keys by their positions; how columns pair is a property of the "
              "weights");
  line.flag("--turned-keys", o.turned_keys,
            "the keys were turned before, as most caches hold them: only queries turn");
  line.text("--scheme", o.scheme, "TEXT",
            "any scheme of `volvelle schemes`, its settings in brackets, as in \"t5(max=64)\". "
            "One that is added to token vectors needs --x, one that learns its numbers an array: "
            "--position-table, or bias_table, bucket_table, ... in INPUT");
  line.text("--position-table", o.table, "FILE|NUMBERS",
            "(positions, C): what a learned scheme adds to token vectors");
  line.text("--relative-keys", o.relative_keys, "FILE|NUMBERS",
            "(2M+1, D) or (H,2M+1,D): a vector by the offset of key and query, held to -M .. M, "
            "that the query meets beside the key");
  line.text("--relative-queries", o.relative_queries, "FILE|NUMBERS",
            "the same, that the key meets beside the query");
  line.text("--relative-values", o.relative_values, "FILE|NUMBERS",
            "(2M+1, E) or (H,2M+1,E): the same, added to values");

  line.group("Settings of --rotary (those of `volvelle schemes rotary`)");
  for (const PositionKey& key : position_scheme("rotary").keys) {
    if (key.name == kPairing) continue;
    RotarySetting& setting = o.settings.emplace_back(RotarySetting{key.name, {}});
    line.text("--" + setting.key, setting.value, shown(key), sentence(key));
  }
}

void check(const PositionOptions& o) {
  if (o.scheme && o.rotary) {
    throw UsageError(
        "--rotary and --scheme both choose a scheme; --scheme \"rotary(...)\" says "
        "what --rotary and its settings say");
  }
  for (const RotarySetting& setting : o.settings) {
    if (!setting.value || o.rotary) continue;
    throw UsageError("--" + setting.key +
                     " is about rotary positions; --rotary split-half or --rotary interleaved "
                     "turns them on" +
                     (o.scheme ? ", and --scheme takes settings in its brackets" : ""));
  }
}

}  // namespace volvelle::cli
