#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volvelle/nn/language_model.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/studies/extrapolation.h"

namespace volvelle {

/// One that takes part: how its positions are given in training, and what changes in tests.
struct Contestant {
  std::string name;       ///< as the options have it
  std::string trained;    ///< positions in training, as text: "t5(max=64)"
  bool rescaled = false;  ///< rotary angles are rescaled (YaRN) by test length over training length
  PositionFacts facts = {};  ///< of one instance of the scheme

  /// Positions in a test of so many tokens.
  std::string tested(std::int64_t tokens, std::int64_t train) const;
  /// Whether it has positions for so many tokens.
  bool reaches(std::int64_t tokens) const;
};

/// Throws InvalidArgument: an unknown scheme (with a suggestion), one given twice, a largest
/// distance beyond the training length, a table shorter than it.
std::vector<Contestant> contestants(const ExtrapolationOptions& options);

/// The network with these positions.
LanguageModelOptions contest_model(const ExtrapolationOptions& options, std::int64_t vocabulary,
                                   const std::string& positions);

}  // namespace volvelle
