#include "support/properties.h"

#include <cmath>
#include <vector>

namespace volvelle::testing {
namespace {

// One of the choices; the first is the simplest.
template <class T>
T one_of(std::vector<T> choices) {
  return choices[static_cast<std::size_t>(
      *rc::gen::inRange<int>(0, static_cast<int>(choices.size())))];
}

// True in one of `of` cases, shrinking to false.
bool sometimes(int of) { return *rc::gen::inRange(0, of) == of - 1; }

// Small, or one past a multiple of a vector, a panel or a tile of keys.
std::int64_t length() {
  return one_of<std::int64_t>(
      {1, 2, 3, 4, 5, 7, 8, 0, 9, 13, 16, 17, 31, 33, 40, 63, 64, 65, 96, 127, 128, 129, 191, 257});
}

std::int64_t head_width() {
  return one_of<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 31, 64, 65, 80});
}

void draw_shape(Recipe& r) {
  r.rank = one_of<int>({4, 4, 4, 3, 2});
  r.queries = length();
  r.keys = length();
  r.width = head_width();
  r.value_width = sometimes(2) ? head_width() : r.width;
  r.batch = r.rank == 4 ? one_of<std::int64_t>({1, 2, 3}) : 1;
  r.key_heads = r.rank >= 3 ? one_of<std::int64_t>({1, 2, 3}) : 1;
  r.group = r.rank >= 3 ? one_of<std::int64_t>({1, 2, 4}) : 1;
  if (r.queries * r.keys > 4096) {  // keep the oracle's loops short
    r.batch = 1;
    r.group = 2 > r.group || r.rank < 3 ? 1 : 2;
    r.key_heads = 1;
  }
  r.layout = one_of<Layout>({Layout::contiguous, Layout::contiguous, Layout::bthd, Layout::fused,
                             Layout::reversed, Layout::gapped});
}

void draw_biases(Recipe& r) {
  r.scale = one_of<double>({std::nan(""), std::nan(""), 1.0, 0.05, -0.5, 2.0, 0.0});
  r.softcap = one_of<double>({0, 0, 0, 0.5, 5, 50});
  r.bias = one_of<Span>({Span::none, Span::none, Span::none, Span::full, Span::per_head,
                         Span::per_batch, Span::plane, Span::keys, Span::scalar, Span::queries});
  r.bias_dtype = one_of<DType>(
      {DType::float32, DType::float32, DType::float64, DType::float16, DType::bfloat16});
  r.bias_minus_infinity = sometimes(4);
  r.slopes = sometimes(4);
  if (sometimes(4)) r.table_reach = one_of<std::int64_t>({0, 1, 3, 16, 200});
  if (sometimes(4)) {
    r.buckets = one_of<Buckets>({Buckets::one_way, Buckets::two_way});
    r.bucket_count = one_of<std::int64_t>({4, 8, 32});
    r.max_distance = one_of<std::int64_t>({20, 128, 17});
  }
  r.query_positions = sometimes(5);
  r.key_positions = sometimes(5);
  r.sinks = sometimes(4);
  r.dropout = one_of<double>({0, 0, 0, 0.1, 0.5, 0.9});
}

void draw_turns(Recipe& r) {
  if (r.width < 2 || !sometimes(3)) return;
  r.turned =
      sometimes(3) ? 2 * *rc::gen::inRange<std::int64_t>(1, r.width / 2 + 1) : r.width / 2 * 2;
  r.pairing = one_of<RotaryPairing>({RotaryPairing::split_half, RotaryPairing::interleaved});
  r.turn_dtype = one_of<DType>({DType::float32, DType::float32, DType::float64});
  r.turn_by_row = sometimes(4);
  r.turn_keys_apart = sometimes(4);
  r.keys_are_turned = sometimes(5);
}

void draw_exclusion(Recipe& r) {
  const auto extent = [&] {
    return one_of<std::int64_t>({0, 0, 0, 1, 2, 5, 16, 64, 100, 1000, INT64_MAX});
  };
  r.causal = sometimes(2);
  r.alignment = one_of<Alignment>({Alignment::bottom_right, Alignment::top_left});
  r.query_offset = sometimes(4);
  r.window = extent();
  r.window_right = extent();
  if (r.causal) r.prefix = extent();
  r.chunk = extent();
  r.key_lengths = sometimes(4);
  r.padding = one_of<Padding>({Padding::right, Padding::left});
  r.segments = one_of<std::int64_t>({0, 0, 0, 1, 2, 3, 9});
  r.keep = one_of<Span>({Span::none, Span::none, Span::none, Span::full, Span::per_head,
                         Span::per_batch, Span::plane, Span::keys, Span::scalar, Span::queries});
  r.keep_dtype =
      one_of<DType>({DType::boolean, DType::boolean, DType::uint8, DType::int64, DType::int16});
  r.kept = one_of<double>({0.7, 0.95, 0.1, 0.0, 1.0});
  r.poison = sometimes(2);
}

void draw_relative_vectors(Recipe& r) {
  const auto reach = [&] { return one_of<std::int64_t>({-1, -1, 2, 0, 1, 16, 40, 300}); };
  r.relative_keys = reach();
  const bool others = sometimes(3);  // which take the composed path
  if (others) r.relative_queries = reach();
  if (others) r.relative_values = reach();
  if (r.relative_keys < 0 && r.relative_queries < 0 && r.relative_values < 0) r.relative_keys = 3;
  r.relative_shared = sometimes(2);
  r.relative_dtype = one_of<DType>({DType::float32, DType::float64, r.dtype});
}

Recipe drawn(DType dtype) {
  Recipe recipe;
  recipe.dtype = dtype;
  recipe.seed = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1 << 30));
  draw_shape(recipe);
  draw_biases(recipe);
  draw_turns(recipe);
  draw_exclusion(recipe);
  return recipe;
}

}  // namespace

// At the full size from the first case on: RapidCheck would begin with the simplest ones.
rc::Gen<Recipe> any_recipe(DType dtype) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([dtype] { return drawn(dtype); }));
}

rc::Gen<Recipe> any_relative_recipe(DType dtype) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([dtype] {
                           Recipe recipe = drawn(dtype);
                           draw_relative_vectors(recipe);
                           return recipe;
                         }));
}

}  // namespace volvelle::testing
