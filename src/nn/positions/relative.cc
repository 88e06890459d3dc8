#include <array>
#include <string>

#include "nn/parameter.h"
#include "nn/parameter_size.h"
#include "nn/positions/draw_table.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"

namespace volvelle {
namespace {

constexpr std::array kKeys{
    PositionKey{"max", "integer", "offsets beyond it share its vector", "16"},
    PositionKey{"keys", "yes|no", "vectors added to keys, and scaled like them", "yes"},
    PositionKey{"queries", "yes|no", "vectors added to queries", "no"},
    PositionKey{"values", "yes|no", "vectors added to values in the weighted sum", "no"},
    PositionKey{"shared", "yes|no", "whether all heads have the same vectors", "yes"},
};

constexpr std::int64_t kMost = std::int64_t{1} << 30;

// One vector for each offset clamp(j - p, -M, M) + M.
class RelativeVectors : public PositionScheme {
 public:
  RelativeVectors(const SchemeSettings& settings, const PositionContext& context)
      : width_(context.width) {
    const std::int64_t most = settings.count("max", 16);
    if (most > kMost) settings.refuse("max=" + std::to_string(most) + " is beyond 2^30");
    const bool shared = settings.yes("shared", true);
    const Shape shape = shared ? Shape{2 * most + 1, context.head_width}
                               : Shape{context.heads, 2 * most + 1, context.head_width};
    const auto take = [&](const char* key, bool standard, const char* name, Variable& member) {
      if (!settings.yes(key, standard)) return;
      check_parameters_fit("relative", static_cast<double>(element_count(shape)), context.dtype);
      member = make_parameter("relative", context.dtype, shape);
      add_parameter(name, member);
      ++tables_;
    };
    take("keys", true, "keys", keys_);
    take("queries", false, "queries", queries_);
    take("values", false, "values", values_);
    if (tables_ == 0) settings.refuse("keys, queries and values are all no; use none");
    cost_ = std::to_string(tables_ * (2 * most + 1) * context.head_width) +
            " multiply-adds per head, 1 look-up per score";
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::vectors,
            .shift_keeps = ShiftKeeps::everything,
            .parameters = parameter_count(),
            .cost = cost_,
            .cache = "keys and values as projected"};
  }

  void enter(AttendVariableOptions& attention, const AttentionPlaces& /*places*/) const override {
    attention.relative_keys = keys_;
    attention.relative_queries = queries_;
    attention.relative_values = values_;
  }

  void initialize(Initializer& initializer) override {
    for (Variable* table : {&keys_, &queries_, &values_}) {
      if (*table) draw_offset_table(*table, initializer, width_);
    }
  }

 private:
  std::int64_t width_;
  int tables_ = 0;
  Variable keys_, queries_, values_;
  std::string cost_;
};

}  // namespace

std::span<const PositionKey> relative_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_relative(const PositionText& text,
                                              const PositionContext& context) {
  return std::make_shared<RelativeVectors>(SchemeSettings(text), context);
}

}  // namespace volvelle
