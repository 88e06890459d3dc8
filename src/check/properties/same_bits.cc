// What must not move a single bit: threads, neighbours in the batch, where the numbers lie.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/properties/distance.h"
#include "check/properties/measurements.h"
#include "check/properties/setting.h"

namespace volvelle::properties {
namespace {

constexpr AttentionRequest kEverything{.lse = true, .entropy = true, .column_sums = true};
constexpr int kMostThreads = 8;

// Three rows of a batch with everything on, the second and third shorter than the first.
Setting busy(RandomNumbers& draws) {
  Setting setting = random_setting({.batch = 3,
                                    .key_heads = 2,
                                    .group = 2,
                                    .queries = 70,
                                    .keys = 150,
                                    .width = 20,
                                    .value_width = 20},
                                   draws);
  AttentionProblem& p = setting.problem;
  p.causal = true;
  p.slopes = setting.reals({4}, {0.5, 0.25, 0.125, 0.0625});
  p.sinks = setting.reals({4}, {0.5, -1, 2, 0});
  p.bias = setting.own(filled(DType::float32, {4, 70, 150}, [&] { return draws.unit(); }));
  p.key_lengths = setting.integers({3}, {150, 101, 3});
  return setting;
}

// One query of each row over many keys, as when decoding.
Setting decoding(RandomNumbers& draws) {
  Setting setting = random_setting({.batch = 3,
                                    .key_heads = 2,
                                    .group = 2,
                                    .queries = 1,
                                    .keys = 1000,
                                    .width = 24,
                                    .value_width = 24},
                                   draws);
  setting.problem.key_lengths = setting.integers({3}, {1000, 701, 3});
  return setting;
}

Setting bare(RandomNumbers& draws, std::int64_t queries, std::int64_t keys) {
  return random_setting({.queries = queries, .keys = keys, .width = 24, .value_width = 24}, draws);
}

AttentionProblem row_alone(const AttentionProblem& p, std::int64_t b) {
  AttentionProblem alone = p;
  alone.q = slice(p.q, 0, b, 1);
  alone.k = slice(p.k, 0, b, 1);
  alone.v = slice(p.v, 0, b, 1);
  alone.key_lengths = slice(p.key_lengths, 0, b, 1);
  return alone;
}

AttentionResult row_of(const AttentionResult& whole, std::int64_t b) {
  AttentionResult row;
  row.output = copy_of(slice(whole.output.view(), 0, b, 1));
  row.lse = copy_of(slice(whole.lse.view(), 0, b, 1));
  if (whole.entropy) row.entropy = copy_of(slice(whole.entropy.view(), 0, b, 1));
  if (whole.column_sums) row.column_sums = copy_of(slice(whole.column_sums.view(), 0, b, 1));
  return row;
}

// The elements of a contiguous (B,H,T,D) view, laid out with the axes 1 and 2 exchanged as one of
// the three parts of a (B,T,3,H,D) buffer.
View in_fused_buffer(Setting& setting, const View& view, std::int64_t part) {
  const Shape& s = view.shape();
  Tensor buffer = Tensor::zeros(view.dtype(), {s[0], s[2], 3, s[1], s[3]});
  const Strides strides{s[2] * 3 * s[1] * s[3], s[3], 3 * s[1] * s[3], 1};
  std::int64_t at = 0;
  for (std::int64_t b = 0; b < s[0]; ++b) {
    for (std::int64_t h = 0; h < s[1]; ++h) {
      for (std::int64_t t = 0; t < s[2]; ++t) {
        for (std::int64_t d = 0; d < s[3]; ++d, ++at) {
          const std::int64_t place = b * strides[0] + h * strides[1] + t * strides[2] + d;
          set_element(buffer, part * s[1] * s[3] + place, element_as_double(view, at));
        }
      }
    }
  }
  const View whole = setting.own(std::move(buffer));
  return View(static_cast<const float*>(whole.data()) + part * s[1] * s[3], s, strides);
}

}  // namespace

double thread_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  std::vector<Setting> settings;
  settings.push_back(busy(draws));
  settings.push_back(bare(draws, 300, 300));
  settings.push_back(decoding(draws));
  for (const Setting& setting : settings) {
    Subject few = subject;
    few.options.threads = 1;
    const AttentionResult alone = few.attend(setting.problem, kEverything);
    for (int threads = 2; threads <= kMostThreads; ++threads) {
      few.options.threads = threads;
      worst = std::max(worst, bit_distance(few.attend(setting.problem, kEverything), alone));
    }
  }
  return worst;
}

double neighbour_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  double worst = 0;
  for (const auto make : {busy, decoding}) {
    const Setting setting = make(draws);
    const AttentionResult whole = subject.attend(setting.problem, kEverything);
    for (std::int64_t b = 0; b < 3; ++b) {
      const AttentionResult alone = subject.attend(row_alone(setting.problem, b), kEverything);
      worst = std::max(worst, bit_distance(alone, row_of(whole, b)));
    }
  }
  return worst;
}

double stride_error(const Subject& subject) {
  RandomNumbers draws = subject.draws();
  Setting setting = busy(draws);
  AttentionProblem scattered = setting.problem;
  scattered.q = in_fused_buffer(setting, scattered.q, 0);
  scattered.k = in_fused_buffer(setting, scattered.k, 1);
  scattered.v = in_fused_buffer(setting, scattered.v, 2);
  return bit_distance(subject.attend(scattered), subject.attend(setting.problem));
}

}  // namespace volvelle::properties
