#include <algorithm>
#include <cstdint>
#include <vector>

#include "attention/oracle_terms.h"
#include "attention/resolved.h"
#include "check/properties/twins.h"

namespace volvelle::properties {
namespace {

std::vector<std::int64_t> integers_of(const View& view) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < view.shape()[0]; ++i) {
    values.push_back(static_cast<std::int64_t>(element_as_double(view, i * view.strides()[0])));
  }
  return values;
}

std::int64_t tokens(const View& view) { return view.shape()[view.rank() - 2]; }

View read_as_contiguous(const View& view) { return View(view.data(), view.dtype(), view.shape()); }

}  // namespace

void forget_scale(Setting& setting) { setting.problem.scale = 1; }

void shift_positions_by_one(Setting& setting) {
  AttentionProblem& p = setting.problem;
  std::vector<std::int64_t> offsets{
      p.alignment == Alignment::bottom_right ? tokens(p.k) - tokens(p.q) : 0};
  if (p.query_offset) offsets = integers_of(p.query_offset);
  for (std::int64_t& offset : offsets) ++offset;
  p.query_offset = setting.integers({static_cast<std::int64_t>(offsets.size())}, offsets);
  p.alignment = Alignment::bottom_right;
}

void align_top_left(Setting& setting) { setting.problem.alignment = Alignment::top_left; }

void lengthen_by_one(Setting& setting) {
  AttentionProblem& p = setting.problem;
  if (!p.key_lengths) return;
  std::vector<std::int64_t> lengths = integers_of(p.key_lengths);
  for (std::int64_t& length : lengths) length = std::min(length + 1, tokens(p.k));
  p.key_lengths = setting.integers({static_cast<std::int64_t>(lengths.size())}, lengths);
}

void take_longest_length(Setting& setting) {
  AttentionProblem& p = setting.problem;
  if (!p.key_lengths) return;
  std::vector<std::int64_t> lengths = integers_of(p.key_lengths);
  std::fill(lengths.begin(), lengths.end(), *std::max_element(lengths.begin(), lengths.end()));
  p.key_lengths = setting.integers({static_cast<std::int64_t>(lengths.size())}, lengths);
}

void widen_windows(Setting& setting) {
  if (setting.problem.window > 0) ++setting.problem.window;
  if (setting.problem.window_right > 0) ++setting.problem.window_right;
}

void lengthen_prefix(Setting& setting) {
  if (setting.problem.prefix > 0) ++setting.problem.prefix;
}

void drop_chunks(Setting& setting) { setting.problem.chunk = 0; }

void drop_segments(Setting& setting) {
  setting.problem.query_segments = setting.problem.key_segments = {};
}

void drop_query_positions(Setting& setting) { setting.problem.query_positions = {}; }

void drop_key_positions(Setting& setting) { setting.problem.key_positions = {}; }

void drop_bias(Setting& setting) { setting.problem.bias = {}; }

void drop_cap(Setting& setting) { setting.problem.softcap = 0; }

void drop_sinks(Setting& setting) { setting.problem.sinks = {}; }

void drop_other_weights(Setting& setting) { ++setting.problem.dropout_seed; }

void tile_key_heads(Setting& setting) {
  AttentionProblem& p = setting.problem;
  const std::int64_t key_heads = p.k.shape()[1];
  std::vector<std::int64_t> order;
  for (std::int64_t h = 0; h < p.q.shape()[1]; ++h) order.push_back(h % key_heads);
  p.k = setting.own(gathered(p.k, 1, order));
  p.v = setting.own(gathered(p.v, 1, order));
}

void ignore_strides(Setting& setting) {
  AttentionProblem& p = setting.problem;
  p.q = read_as_contiguous(p.q);
  p.k = read_as_contiguous(p.k);
  p.v = read_as_contiguous(p.v);
}

void exclude_by_bias(Setting& setting) {
  const AttentionProblem& p = setting.problem;
  const ResolvedAttention r = resolve(p);
  Tensor bias = Tensor::zeros(DType::float32, {r.batch, r.heads, r.queries, r.keys});
  float* cell = bias.data<float>();
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      for (std::int64_t i = 0; i < r.queries; ++i) {
        for (std::int64_t j = 0; j < r.keys; ++j) {
          *cell++ = sees(r, {b, h, i, j}, AttentionFault::none) ? 0.0F : -1e9F;
        }
      }
    }
  }
  setting.problem = {.q = p.q, .k = p.k, .v = p.v, .scale = p.scale, .softcap = p.softcap};
  setting.problem.bias = setting.own(std::move(bias));
}

Control edited(const char* name, Edit edit) {
  return {name, [edit](const AttentionOperation& sound) {
            AttentionOperation twin;
            twin.attend = [sound, edit](const AttentionProblem& problem,
                                        const AttentionRequest& request,
                                        const AttentionOptions& options) {
              Setting setting{problem, {}};
              edit(setting);
              return sound.attend(setting.problem, request, options);
            };
            twin.attend_backward = [sound, edit](
                                       const AttentionProblem& problem, const AttentionSaved& saved,
                                       const View& grad_output, const AttentionOptions& options) {
              Setting setting{problem, {}};
              edit(setting);
              return sound.attend_backward(setting.problem, saved, grad_output, options);
            };
            return twin;
          }};
}

}  // namespace volvelle::properties
