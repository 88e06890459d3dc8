#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "volvelle/attention/attend_variable.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Where a scheme gives position to a transformer.
enum class PositionDoor : std::uint8_t {
  none,    ///< nowhere
  tokens,  ///< added to the token vectors, before the first block
  turn,    ///< turns queries and keys
  bias,    ///< adds a number to the scores
  vectors  ///< adds vectors to keys, queries or values, by offset
};

/// What stays as it is when all positions grow by the same number.
enum class ShiftKeeps : std::uint8_t {
  everything,  ///< scores and outputs: the scheme is relative
  nothing      ///< the scheme is absolute
};

/// What a scheme says of itself; `volvelle schemes` prints it and `volvelle check positions` holds
/// it to that.
struct PositionFacts {
  PositionDoor door = PositionDoor::none;
  ShiftKeeps shift_keeps = ShiftKeeps::everything;
  std::optional<std::int64_t> positions = {};  ///< how many it has; absent: no end of its own
  std::int64_t parameters = 0;
  std::string cost;                 ///< per token and layer, in words with numbers
  std::string cache;                ///< what a key/value cache holds under it, in words
  bool keys_cached_turned = false;  ///< turned keys; else keys as they are projected
  bool shared_by_layers = false;    ///< one instance serves all layers of a stack (T5's table does)
  /// What a token is given depends on the length of its text, once that exceeds this: single steps
  /// then differ from a full pass, and a shift is not without effect. Absent: on its place only.
  std::optional<std::int64_t> steady_positions = {};
};

/// Where the queries and keys of one attention stand.
struct AttentionPlaces {
  View query_positions = {};  ///< (B,T) or (T) integers; absent: by index
  View key_positions = {};    ///< (B,S) or (S); absent: by index
  /// All of them lie in [0, positions): how long tables must be. Schemes that turn keep a row for
  /// each position up to the largest and refuse more than 2^24 of them.
  std::int64_t positions = 0;
  View row_lengths = {};  ///< (B) or (1) int64: 1 + the largest position that each row has reached,
                          ///< for scalings that depend on it; absent: `positions`
};

/// One way of giving position, usable in any model: full pass, backward, and step by step. A scheme
/// enters by one door and leaves the other functions as they are. Safe to use from several threads
/// at once.
class VOLVELLE_API PositionScheme : public Module {
 public:
  virtual PositionFacts facts() const = 0;

  /// x (B,T,C) with what `positions` ((B,T) or (T) integers) add to it.
  /// Throws InvalidArgument for a position beyond the scheme's last, naming how many it has.
  virtual Variable add_to_tokens(const Variable& x, const View& positions) const;

  /// Puts turns, biases or vectors into the options of an attention whose rules already hold
  /// `places.query_positions` and `places.key_positions`.
  virtual void enter(AttendVariableOptions& attention, const AttentionPlaces& places) const;

  virtual void initialize(Initializer& initializer);
};

}  // namespace volvelle
