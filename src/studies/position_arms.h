#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "studies/position_problem.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {

/// Where positions are added that come with tokens.
enum class AddedTo : std::uint8_t {
  input,   ///< what attention reads, as it should be
  values,  ///< the values alone
  output,  ///< what attention gives
};

/// One way of giving position to the small attention.
struct PositionArm {
  std::string key;   ///< "sinusoidal", "sinusoidal_in_values"
  std::string name;  ///< as the table shows it
  std::shared_ptr<PositionScheme> scheme;
  AddedTo added_to = AddedTo::input;
  bool causal = false;
};

/// Every scheme of the catalog, its numbers drawn where it has any, then positions added where they
/// should not be, and no positions under a causal mask.
std::vector<PositionArm> position_arms(std::int64_t width, std::int64_t rows);

struct ArmOutcome {
  Tensor output;   ///< (T,C)
  Tensor weights;  ///< (T,T)
};

/// Attention of tokens that stand at first, first + 1, ...
ArmOutcome attend_arm(const PositionArm& arm, const PositionProblem& problem, const Tensor& x,
                      std::int64_t first = 0);

/// What an arm keeps. The differences are the largest of any output.
struct ArmFigures {
  double shuffled = 0;          ///< attention of shuffled tokens from shuffled attention
  double weights_shuffled = 0;  ///< the same of the weights
  double reached = 0;           ///< at a token that stays while the others change places
  double shifted = 0;           ///< when all positions grow by a number

  static constexpr double kTolerance = 1e-5;
  bool equivariant() const { return shuffled <= kTolerance; }
  bool weights_equivariant() const { return weights_shuffled <= kTolerance; }
  bool order_reaches() const { return reached > kTolerance; }
  bool shift_changes_nothing() const { return shifted <= kTolerance; }
};

ArmFigures measure_arm(const PositionArm& arm, const PositionProblem& problem);

/// (3, 0, 5, 1, 4, 2) for six tokens; else the odd places, then the even ones.
std::vector<std::int64_t> shuffle_of(std::int64_t tokens);

/// By how much positions grow in `shifted`.
inline constexpr std::int64_t kArmShift = 7;

}  // namespace volvelle
