#include "check/properties/random_problem.h"

#include <cmath>
#include <initializer_list>

#include "volvelle/attention/alibi.h"

namespace volvelle::properties {
namespace {

class Maker {
 public:
  Maker(RandomNumbers& draws, DType dtype) : draws_(draws) {
    s_.batch = 1 + draws.below(2);
    s_.key_heads = 1 + draws.below(2);
    s_.group = 1 + draws.below(2);
    s_.queries = one_of({1, 3, 9, 17, 33, 64, 70, 130});
    const bool many_keys = s_.queries <= 17 && draws.one_in(3);
    s_.keys = many_keys ? kLongestProblem : one_of({1, 5, 16, 64, 65, 127, 129, 140});
    s_.width = one_of({1, 3, 8, 16, 20, 64, kWidestProblem});
    s_.value_width = draws.one_in(2) ? s_.width : one_of({1, 5, 16, 31, 64});
    s_.dtype = dtype;
    setting_ = random_setting(s_, draws);
  }

  Setting make() {
    scores();
    exclusion();
    masks();
    return std::move(setting_);
  }

 private:
  std::int64_t one_of(std::initializer_list<std::int64_t> choices) {
    return choices.begin()[draws_.below(static_cast<std::int64_t>(choices.size()))];
  }
  template <class Choice>
  Choice one_of(std::initializer_list<Choice> choices) {
    return choices.begin()[draws_.below(static_cast<std::int64_t>(choices.size()))];
  }
  View table(const Shape& shape) {
    return setting_.own(filled(DType::float32, shape, [&] { return 2 * draws_.unit(); }));
  }
  View integers(const Shape& shape, std::int64_t first, std::int64_t count) {
    return setting_.own(filled(DType::int32, shape,
                               [&] { return static_cast<double>(first + draws_.below(count)); }));
  }
  // One of the ways in which an array can span (B,H,T,S).
  Shape span() {
    return one_of<Shape>({{s_.batch, s_.heads(), s_.queries, s_.keys},
                          {s_.heads(), s_.queries, s_.keys},
                          {s_.batch, 1, s_.queries, s_.keys},
                          {s_.queries, s_.keys},
                          {s_.batch, 1, 1, s_.keys}});
  }

  void scores() {
    AttentionProblem& p = setting_.problem;
    if (draws_.one_in(3)) p.softcap = draws_.one_in(2) ? 2 : 20;
    if (draws_.one_in(3)) p.bias = table(span());
    if (draws_.one_in(4)) {
      p.slopes = setting_.reals({s_.heads()}, alibi_slopes(static_cast<int>(s_.heads())));
    }
    if (draws_.one_in(4)) p.bias_table = table({s_.heads(), 2 * one_of({0, 3, 40}) + 1});
    if (draws_.one_in(4)) {
      p.buckets = draws_.one_in(2) ? Buckets::one_way : Buckets::two_way;
      p.max_distance = one_of({20, 128});
      p.bucket_table = table({s_.heads(), one_of({8, 32})});
    }
    if (draws_.one_in(5)) p.query_positions = integers({s_.batch, s_.queries}, -5, s_.queries + 9);
    if (draws_.one_in(5)) p.key_positions = integers({s_.batch, s_.keys}, -5, s_.keys + 9);
    if (draws_.one_in(4)) p.sinks = table({s_.heads()});
    if (s_.width >= 2 && draws_.one_in(4)) turn();
  }

  // By angles of all sizes, at positions of their own: none before 0, which no table has.
  void turn() {
    AttentionProblem& p = setting_.problem;
    constexpr std::int64_t kPositions = 50;
    const std::int64_t pairs = 1 + draws_.below(s_.width / 2);
    Tensor cosines(DType::float32, {kPositions, pairs}), sines(DType::float32, {kPositions, pairs});
    for (std::int64_t i = 0; i < cosines.size(); ++i) {
      const double angle = 4 * draws_.unit();
      cosines.data<float>()[i] = static_cast<float>(std::cos(angle));
      sines.data<float>()[i] = static_cast<float>(std::sin(angle));
    }
    p.query_positions = integers({s_.batch, s_.queries}, 0, kPositions);
    p.key_positions = integers({s_.batch, s_.keys}, 0, kPositions);
    p.rotary = {
        .cosines = setting_.own(std::move(cosines)),
        .sines = setting_.own(std::move(sines)),
        .pairing = draws_.one_in(2) ? RotaryPairing::interleaved : RotaryPairing::split_half};
  }

  void exclusion() {
    AttentionProblem& p = setting_.problem;
    p.causal = draws_.one_in(2);
    if (draws_.one_in(4)) {
      p.alignment = Alignment::top_left;
    } else if (draws_.one_in(4)) {
      p.query_offset = integers({s_.batch}, -2, s_.keys + 5);
    }
    if (draws_.one_in(3)) p.window = one_of({1, 7, 64, 1000});
    if (draws_.one_in(4)) p.window_right = one_of({1, 9, 50});
    if (p.causal && draws_.one_in(3)) p.prefix = one_of({2, 30});
    if (draws_.one_in(5)) p.chunk = one_of({5, 64});
  }

  void masks() {
    AttentionProblem& p = setting_.problem;
    if (draws_.one_in(3)) {
      p.key_lengths = integers({s_.batch}, 0, s_.keys + 1);
      p.padding = draws_.one_in(2) ? Padding::left : Padding::right;
    }
    if (draws_.one_in(4)) {
      p.query_segments = documents(s_.queries);
      p.key_segments = documents(s_.keys);
    }
    if (draws_.one_in(3)) {
      p.keep = setting_.own(
          filled(DType::boolean, span(), [&] { return draws_.one_in(4) ? 0.0 : 1.0; }));
    }
  }

  // Two runs of equal ids in each row.
  View documents(std::int64_t tokens) {
    std::int64_t at = 0;
    return setting_.own(filled(DType::int32, {s_.batch, tokens},
                               [&] { return static_cast<double>(2 * (at++ % tokens) / tokens); }));
  }

  RandomNumbers& draws_;
  Sizes s_;
  Setting setting_;
};

}  // namespace

Setting random_problem(RandomNumbers& draws, DType dtype) { return Maker(draws, dtype).make(); }

}  // namespace volvelle::properties
