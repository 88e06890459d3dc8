#include <array>

#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "nn/positions/draw_table.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"

namespace volvelle {
namespace {

constexpr std::array kKeys{
    PositionKey{"max", "integer", "offsets beyond it share its number", "128"},
};

constexpr std::int64_t kMost = std::int64_t{1} << 30;

class ClampedBias : public PositionScheme {
 public:
  ClampedBias(const SchemeSettings& settings, const PositionContext& context)
      : width_(context.width) {
    const std::int64_t most = settings.count("max", 128);
    if (most > kMost) settings.refuse("max=" + std::to_string(most) + " is beyond 2^30");
    check_parameters_fit("clamped",
                         static_cast<double>(context.heads) * static_cast<double>(2 * most + 1),
                         context.dtype);
    table_ = make_parameter("clamped", context.dtype, {context.heads, 2 * most + 1});
    add_parameter("weight", table_);
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::bias,
            .shift_keeps = ShiftKeeps::everything,
            .parameters = table_.size(),
            .cost = "1 look-up and addition per score",
            .cache = "keys and values as projected"};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& /*places*/) const override {
    attention.bias_table = table_;
  }

  void initialize(Initializer& initializer) override {
    draw_offset_table(table_, initializer, width_);
  }

 private:
  std::int64_t width_;
  Variable table_;
};

}  // namespace

std::span<const PositionKey> clamped_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_clamped(const PositionText& text,
                                             const PositionContext& context) {
  return std::make_shared<ClampedBias>(SchemeSettings(text), context);
}

}  // namespace volvelle
