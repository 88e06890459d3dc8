#include <algorithm>
#include <array>
#include <limits>

#include "nn/parameter.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"
#include "volvelle/attention/alibi.h"

namespace volvelle {
namespace {

constexpr std::array kKeys{
    PositionKey{"learned", "yes|no", "whether slopes are parameters that train", "no"},
};

// Scores less slope * |p - j|: the symmetric form, which behind a causal mask is the paper's.
class Alibi : public PositionScheme {
 public:
  Alibi(const SchemeSettings& settings, const PositionContext& context)
      : start_(alibi_slopes(heads_of(settings, context))),
        learned_(settings.yes("learned", false)) {
    slopes_ = make_parameter("alibi", context.dtype, {context.heads});
    slopes_.set_requires_grad(learned_);
    set_slopes();
    if (learned_) add_parameter("slopes", slopes_);
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::bias,
            .shift_keeps = ShiftKeeps::everything,
            .parameters = learned_ ? slopes_.size() : 0,
            .cost = "1 multiply-add per score",
            .cache = "keys and values as projected"};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& /*places*/) const override {
    attention.slopes = slopes_;
  }

  void initialize(Initializer& /*initializer*/) override { set_slopes(); }

 private:
  static int heads_of(const SchemeSettings& settings, const PositionContext& context) {
    if (context.heads > std::numeric_limits<int>::max()) settings.refuse("too many heads");
    return static_cast<int>(context.heads);
  }

  void set_slopes() {
    const MutableView to = slopes_.change();
    if (to.dtype() == DType::float64) {
      std::ranges::copy(start_, static_cast<double*>(to.data()));
    } else {
      std::ranges::transform(start_, static_cast<float*>(to.data()),
                             [](double slope) { return static_cast<float>(slope); });
    }
  }

  std::vector<double> start_;
  bool learned_;
  Variable slopes_;
};

}  // namespace

std::span<const PositionKey> alibi_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_alibi(const PositionText& text,
                                           const PositionContext& context) {
  return std::make_shared<Alibi>(SchemeSettings(text), context);
}

}  // namespace volvelle
