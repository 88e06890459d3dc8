#pragma once

#include <deque>
#include <optional>
#include <string>

#include "cli/command_line.h"

namespace volvelle::cli {

/// A setting of rotary positions, under the name that the catalog of schemes has for it.
struct RotarySetting {
  std::string key;
  std::optional<std::string> value;
};

/// How attention is told positions: what was typed.
struct PositionOptions {
  std::optional<std::string> scheme;   ///< text as nn/positions/catalog.h reads it
  std::optional<std::string> rotary;   ///< the pairing
  std::deque<RotarySetting> settings;  ///< of `rotary`; elements stay where they are
  std::optional<std::string> table;    ///< of learned positions
  std::optional<std::string> positions, key_positions;
  std::optional<std::string> relative_keys, relative_queries, relative_values;
  bool turned_keys = false;

  /// The scheme as one text, whichever way it was given; empty: none. Without settings --rotary may
  /// be about tables of INPUT, which `has_tables` tells.
  std::string text() const;
  bool has_settings() const;
};

void declare(CommandLine& line, PositionOptions& options);

/// Contradictions among these options. Throws UsageError.
void check(const PositionOptions& options);

}  // namespace volvelle::cli
