#include <array>

#include "nn/parameter.h"
#include "nn/positions/draw_table.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"
#include "volvelle/attention/buckets.h"

namespace volvelle {
namespace {

constexpr std::array kKeys{
    PositionKey{"buckets", "integer", "how many numbers each head has", "32"},
    PositionKey{"max", "integer", "from here on all offsets share the last bucket", "128"},
    PositionKey{"direction", "one-way|two-way",
                "whether keys after the query have buckets: two-way unless causal", "by the mask"},
};

Buckets direction_of(const SchemeSettings& settings, const PositionContext& context) {
  if (!settings.has("direction")) return context.causal ? Buckets::one_way : Buckets::two_way;
  const bool one_way = settings.word("direction", {"one-way", "two-way"}) == "one-way";
  return one_way ? Buckets::one_way : Buckets::two_way;
}

class T5Buckets : public PositionScheme {
 public:
  T5Buckets(const SchemeSettings& settings, const PositionContext& context)
      : width_(context.width),
        max_distance_(settings.count("max", 128)),
        buckets_(direction_of(settings, context)) {
    const std::int64_t count = settings.count("buckets", 32);
    bucket_of(0, buckets_, count, max_distance_);  // refuses numbers that do not fit
    table_ = make_parameter("t5", context.dtype, {context.heads, count});
    add_parameter("weight", table_);
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::bias,
            .shift_keeps = ShiftKeeps::everything,
            .parameters = table_.size(),
            .cost = "1 look-up and addition per score",
            .cache = "keys and values as projected",
            .shared_by_layers = true};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& /*places*/) const override {
    attention.bucket_table = table_;
    attention.rules.buckets = buckets_;
    attention.rules.max_distance = max_distance_;
  }

  void initialize(Initializer& initializer) override {
    draw_offset_table(table_, initializer, width_);
  }

 private:
  std::int64_t width_, max_distance_;
  Buckets buckets_;
  Variable table_;
};

}  // namespace

std::span<const PositionKey> t5_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_t5(const PositionText& text, const PositionContext& context) {
  return std::make_shared<T5Buckets>(SchemeSettings(text), context);
}

}  // namespace volvelle
