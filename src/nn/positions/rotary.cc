#include "volvelle/nn/positions/rotary.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "nn/positions/rotary_tables.h"
#include "nn/positions/schemes.h"

namespace volvelle {
namespace {

class Rotary : public PositionScheme {
 public:
  Rotary(RotaryOptions options, const PositionContext& context)
      : columns_(rotary_columns(options, context.head_width)),
        pairing_(options.pairing),
        tables_(std::move(options), context.head_width) {}

  PositionFacts facts() const override {
    const bool by_length = tables_.by_length();
    return {.door = PositionDoor::turn,
            .shift_keeps = ShiftKeeps::everything,
            .cost = std::to_string(2 * columns_) + " multiplications per head of q and k",
            .cache = by_length ? "keys as projected: their turn changes with the length"
                               : "turned keys; values as projected",
            .keys_cached_turned = !by_length,
            .steady_positions = tables_.steady_positions()};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& places) const override {
    attention.rotary = tables_.at(places);
    attention.rotary.pairing = pairing_;
  }

 private:
  std::int64_t columns_;
  RotaryPairing pairing_;
  RotaryTableSource tables_;
};

}  // namespace

std::shared_ptr<PositionScheme> make_rotary(const PositionText& text,
                                            const PositionContext& context) {
  return std::make_shared<Rotary>(rotary_options(text), context);
}

}  // namespace volvelle
