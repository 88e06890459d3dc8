#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "nn/positions/growing_tables.h"
#include "nn/positions/position_values.h"
#include "nn/positions/schemes.h"
#include "nn/positions/settings.h"
#include "nn/positions/sinusoidal_table.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/embedding.h"

namespace volvelle {
namespace {

constexpr const char* kName = "sinusoidal";

constexpr std::array kKeys{
    PositionKey{"base", "number > 0", "wavelengths go from 2 pi towards 2 pi times it", "10000"},
    PositionKey{"layout", "interleaved|concatenated",
                "sines and cosines side by side, or all sines first", "by the kind"},
    PositionKey{"kind", "paper|fairseq", "base^(-2i/d), or exp(-i ln(base) / (d/2 - 1))", "paper"},
    PositionKey{"offset", "integer", "the row of position 0; fairseq's models have 2", "0"},
};

// Positions below this come from a table; rows of others are made for the call, so that there is no
// last position.
constexpr std::int64_t kTablePositions = 1 << 17;

class Sinusoidal : public PositionScheme {
 public:
  Sinusoidal(const SinusoidalOptions& options, std::int64_t width)
      : options_(options), width_(width), frequencies_(sinusoidal_frequencies(width, options)) {
    tables_ = shared_tables(
        kName,
        {options.base, static_cast<double>(options.layout), static_cast<double>(options.kind),
         static_cast<double>(options.offset), static_cast<double>(width)},
        1, width,
        [options, width, frequencies = frequencies_](std::int64_t position, float* const* rows) {
          sinusoidal_row(position, width, frequencies, options, rows[0]);
        });
  }

  PositionFacts facts() const override {
    return {.door = PositionDoor::tokens,
            .shift_keeps = ShiftKeeps::nothing,
            .cost = std::to_string(width_) + " additions, once for all layers",
            .cache = "keys and values as projected"};
  }

  Variable add_to_tokens(const Variable& x, const View& positions) const override {
    std::vector<std::int64_t> places = position_values(kName, positions);
    const std::int64_t last = places.empty() ? 0 : *std::ranges::max_element(places);
    if (last < kTablePositions) return added(x, positions, tables_->at_least(last + 1).front());
    Tensor rows(DType::float32, {static_cast<std::int64_t>(places.size()), width_});
    for (std::size_t i = 0; i < places.size(); ++i) {
      sinusoidal_row(places[i], width_, frequencies_, options_,
                     rows.data<float>() + static_cast<std::int64_t>(i) * width_);
      places[i] = static_cast<std::int64_t>(i);
    }
    return added(x, View(places.data(), positions.shape()), rows);
  }

 private:
  // A float64 model adds the same float32 numbers.
  static Variable added(const Variable& x, const View& rows, const Tensor& table) {
    const Variable found = embedding(rows, Variable(table));
    if (x.dtype() != DType::float64) return add(x, found);
    return add(x, Variable(converted(found.view(), DType::float64)));
  }

  SinusoidalOptions options_;
  std::int64_t width_;
  std::vector<double> frequencies_;
  std::shared_ptr<GrowingTables> tables_;
};

}  // namespace

SinusoidalOptions sinusoidal_options(const PositionText& text) {
  const SchemeSettings settings(text);
  SinusoidalOptions options{.base = settings.positive("base", 10000)};
  const bool paper = settings.word("kind", {"paper", "fairseq"}) == "paper";
  options.kind = paper ? SinusoidalKind::paper : SinusoidalKind::fairseq;
  const bool interleaved =
      settings.has("layout")
          ? settings.word("layout", {"interleaved", "concatenated"}) == "interleaved"
          : paper;
  options.layout = interleaved ? SinusoidalLayout::interleaved : SinusoidalLayout::concatenated;
  options.offset = settings.natural("offset", 0);
  return options;
}

std::span<const PositionKey> sinusoidal_keys() { return kKeys; }

std::shared_ptr<PositionScheme> make_sinusoidal(const PositionText& text,
                                                const PositionContext& context) {
  return std::make_shared<Sinusoidal>(sinusoidal_options(text), context.width);
}

}  // namespace volvelle
