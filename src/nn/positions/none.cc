#include "nn/positions/schemes.h"

namespace volvelle {
namespace {

class NoPositions : public PositionScheme {
 public:
  PositionFacts facts() const override {
    return {.door = PositionDoor::none,
            .shift_keeps = ShiftKeeps::everything,
            .cost = "nothing",
            .cache = "keys and values as projected"};
  }
};

}  // namespace

std::shared_ptr<PositionScheme> make_no_positions(const PositionText& /*text*/,
                                                  const PositionContext& /*context*/) {
  return std::make_shared<NoPositions>();
}

}  // namespace volvelle
