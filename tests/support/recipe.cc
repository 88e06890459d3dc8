#include "support/recipe.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "attention/oracle_terms.h"
#include "base/random_numbers.h"
#include "volvelle/attention/alibi.h"

namespace volvelle::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class Maker {
 public:
  explicit Maker(const Recipe& recipe) : r_(recipe), random_(recipe.seed) {}

  Made make() {
    const std::int64_t heads = r_.key_heads * r_.group;
    AttentionProblem& p = made_.problem;
    const auto normal = [&] { return random_.normal(); };
    const auto unit = [&] { return 2 * random_.uniform() - 1; };
    Tensor q = filled(r_.dtype, shape(heads, r_.queries, r_.width), normal);
    Tensor k = filled(r_.dtype, shape(r_.key_heads, r_.keys, r_.width), normal);
    Tensor v = filled(r_.dtype, shape(r_.key_heads, r_.keys, r_.value_width), unit);
    if (!std::isnan(r_.scale)) p.scale = r_.scale;
    p.softcap = r_.softcap;
    p.causal = r_.causal;
    p.alignment = r_.alignment;
    p.window = r_.window;
    p.window_right = r_.window_right;
    p.prefix = r_.prefix;
    p.chunk = r_.chunk;
    p.dropout = r_.dropout;
    p.dropout_seed = r_.seed * 0x9E3779B97F4A7C15u;  // both words of the seed in use
    biases(heads, unit);
    relative_vectors(heads, unit);
    exclusion(heads);
    p.q = q.view();
    p.k = k.view();
    p.v = v.view();
    if (r_.poison) poison(heads, k, v);
    p.q = place(q, r_.layout);
    p.k = place(k, r_.layout);
    p.v = place(v, r_.layout);
    made_.grad_output =
        place(filled(r_.dtype, shape(heads, r_.queries, r_.value_width), unit), r_.layout);
    return std::move(made_);
  }

 private:
  Shape shape(std::int64_t heads, std::int64_t tokens, std::int64_t width) const {
    if (r_.rank == 2) return {tokens, width};
    if (r_.rank == 3) return {heads, tokens, width};
    return {r_.batch, heads, tokens, width};
  }

  Shape span(Span kind, std::int64_t heads) const {
    switch (kind) {
      case Span::per_head:
        return {heads, r_.queries, r_.keys};
      case Span::per_batch:
        return {r_.batch, 1, r_.queries, r_.keys};
      case Span::plane:
        return {r_.queries, r_.keys};
      case Span::keys:
        return {r_.batch, 1, 1, r_.keys};
      case Span::scalar:
        return {};
      case Span::queries:
        return {heads, r_.queries, 1};
      case Span::full:
      case Span::none:
        break;
    }
    return {r_.batch, heads, r_.queries, r_.keys};
  }

  View place(Tensor tensor, Layout layout = Layout::contiguous) {
    LaidOut laid = laid_out(tensor, layout);
    made_.memory.push_back(laid.memory);
    return laid.view;
  }

  template <class Unit>
  void biases(std::int64_t heads, Unit&& unit) {
    AttentionProblem& p = made_.problem;
    if (r_.bias != Span::none) {
      dense_bias_ = filled(r_.bias_dtype, span(r_.bias, heads), [&] {
        const bool out = r_.bias_minus_infinity && random_.below(5) == 0;
        return out ? -std::numeric_limits<double>::infinity() : 2 * unit();
      });
      p.bias = dense_bias_.view();
      made_.memory.push_back(dense_bias_);
    }
    if (r_.slopes) {
      const std::vector<double> slopes = alibi_slopes(static_cast<int>(heads));
      p.slopes = place(listed(DType::float32, {heads}, slopes));
    }
    if (r_.table_reach >= 0) {
      p.bias_table = place(filled(DType::float64, {heads, 2 * r_.table_reach + 1}, unit));
    }
    if (r_.buckets != Buckets::none) {
      p.buckets = r_.buckets;
      p.max_distance = r_.max_distance;
      p.bucket_table = place(filled(DType::float32, {heads, r_.bucket_count}, unit));
    }
    if (r_.turned > 0) turns();
    if (r_.query_positions || needs_query_positions()) p.query_positions = positions(r_.queries);
    if (r_.key_positions) p.key_positions = positions(r_.keys);
    if (r_.sinks) p.sinks = place(filled(DType::float32, {heads}, unit));
  }

  template <class Unit>
  void relative_vectors(std::int64_t heads, Unit&& unit) {
    const auto vectors = [&](std::int64_t reach, std::int64_t width) {
      if (reach < 0) return View();
      const Shape shape =
          r_.relative_shared ? Shape{2 * reach + 1, width} : Shape{heads, 2 * reach + 1, width};
      return place(filled(r_.relative_dtype, shape, unit),
                   r_.layout == Layout::contiguous ? r_.layout : Layout::reversed);
    };
    AttentionProblem& p = made_.problem;
    p.relative_keys = vectors(r_.relative_keys, r_.width);
    p.relative_queries = vectors(r_.relative_queries, r_.width);
    p.relative_values = vectors(r_.relative_values, r_.value_width);
  }

  // Below the tables where rows turn.
  View positions(std::int64_t count) {
    const std::int64_t first = r_.turned > 0 ? 0 : -10;
    return place(filled(DType::int64, {r_.batch, count},
                        [&] { return static_cast<double>(random_.below(count + 20) + first); }));
  }

  // Queries that would stand before the first key have no place in a table.
  bool needs_query_positions() const {
    return r_.turned > 0 && r_.alignment == Alignment::bottom_right && !r_.query_offset &&
           r_.queries > r_.keys;
  }

  // Turns by any angle, and a little longer or shorter.
  void turns() {
    RotaryTurn& turn = made_.problem.rotary;
    const std::int64_t length = r_.queries + r_.keys + 20;
    const Shape one{length, r_.turned / 2}, each{r_.batch, length, r_.turned / 2};
    const auto tables = [&](View& cosines, View& sines) {
      Tensor c(DType::float64, r_.turn_by_row ? each : one), s(DType::float64, c.shape());
      for (std::int64_t n = 0; n < c.size(); ++n) {
        const double angle = 6.3 * random_.uniform(), factor = 0.8 + 0.4 * random_.uniform();
        c.data<double>()[n] = factor * std::cos(angle);
        s.data<double>()[n] = factor * std::sin(angle);
      }
      cosines = place(converted(c.view(), r_.turn_dtype));
      sines = place(converted(s.view(), r_.turn_dtype));
    };
    tables(turn.cosines, turn.sines);
    if (r_.turn_keys_apart) tables(turn.key_cosines, turn.key_sines);
    turn.pairing = r_.pairing;
    turn.keys_are_turned = r_.keys_are_turned;
  }

  void exclusion(std::int64_t heads) {
    AttentionProblem& p = made_.problem;
    if (r_.query_offset) {
      p.alignment = Alignment::bottom_right;
      p.query_offset = place(filled(DType::int32, {r_.batch}, [&] {
        return static_cast<double>(random_.below(r_.keys + 5) - (r_.turned > 0 ? 0 : 2));
      }));
    }
    if (r_.key_lengths) {
      p.key_lengths = place(filled(DType::int32, {r_.batch}, [&] {
        return static_cast<double>(random_.below(r_.keys + 1));
      }));
      p.padding = r_.padding;
    }
    if (r_.segments > 0) {
      p.query_segments = segments(r_.queries);
      p.key_segments = segments(r_.keys);
    }
    if (r_.keep != Span::none) {
      p.keep = place(filled(r_.keep_dtype, span(r_.keep, heads),
                            [&] { return random_.uniform() < r_.kept ? 1.0 : 0.0; }));
    }
  }

  // Runs of equal ids, as packed documents make them.
  View segments(std::int64_t count) {
    std::int64_t at = 0;
    return place(filled(DType::int32, {r_.batch, count}, [&] {
      const std::int64_t run = std::max<std::int64_t>(1, count / r_.segments);
      return static_cast<double>((at++ % std::max<std::int64_t>(count, 1)) / run);
    }));
  }

  // NaN or infinity into every key and value that no query of its heads sees, and into every
  // element of a full bias whose pair is excluded.
  void poison(std::int64_t heads, Tensor& k, Tensor& v) {
    const ResolvedAttention resolved = resolve(made_.problem);
    for (std::int64_t b = 0; b < resolved.batch; ++b) {
      for (std::int64_t g = 0; g < r_.key_heads; ++g) {
        for (std::int64_t j = 0; j < r_.keys; ++j) {
          bool seen = false;
          for (std::int64_t h = g * r_.group; h < (g + 1) * r_.group && !seen; ++h) {
            for (std::int64_t i = 0; i < r_.queries && !seen; ++i) {
              seen = sees(resolved, {b, h, i, j}, AttentionFault::none);
            }
          }
          if (seen) continue;
          const std::int64_t row = (b * r_.key_heads + g) * r_.keys + j;
          poison_row(k, row * r_.width, r_.width);
          poison_row(v, row * r_.value_width, r_.value_width);
        }
      }
    }
    if (r_.bias != Span::full) return;
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < resolved.batch; ++b) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t i = 0; i < r_.queries; ++i) {
          for (std::int64_t j = 0; j < r_.keys; ++j, ++at) {
            if (!sees(resolved, {b, h, i, j}, AttentionFault::none)) {
              set_element(dense_bias_.raw(), r_.bias_dtype, at, kNaN);
            }
          }
        }
      }
    }
  }

  void poison_row(Tensor& tensor, std::int64_t first, std::int64_t count) {
    const double values[] = {kNaN, std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
    for (std::int64_t i = 0; i < count; ++i) {
      set_element(tensor.raw(), r_.dtype, first + i, values[random_.below(3)]);
    }
  }

  const Recipe& r_;
  RandomNumbers random_;
  Made made_;
  Tensor dense_bias_;
};

const char* name_of_span(Span span) {
  const char* const names[] = {"none",  "full", "per_head", "per_batch",
                               "plane", "keys", "scalar",   "queries"};
  return names[static_cast<int>(span)];
}

}  // namespace

Made make(const Recipe& recipe) { return Maker(recipe).make(); }

std::ostream& operator<<(std::ostream& out, const Recipe& r) {
  out << "seed " << r.seed << " " << name_of(r.dtype) << " rank " << r.rank << " B " << r.batch
      << " G " << r.key_heads << " group " << r.group << " T " << r.queries << " S " << r.keys
      << " D " << r.width << " E " << r.value_width << " layout " << static_cast<int>(r.layout)
      << " scale " << r.scale << " softcap " << r.softcap << " bias " << name_of_span(r.bias)
      << (r.bias_minus_infinity ? " with -inf " : " ") << name_of(r.bias_dtype) << " slopes "
      << r.slopes << " table M " << r.table_reach << " buckets " << static_cast<int>(r.buckets)
      << " (" << r.bucket_count << ", " << r.max_distance << ") positions " << r.query_positions
      << r.key_positions << " turned " << r.turned << " pairing " << static_cast<int>(r.pairing)
      << " by " << name_of(r.turn_dtype) << (r.turn_by_row ? " of each row" : "")
      << (r.turn_keys_apart ? ", keys apart" : "") << (r.keys_are_turned ? ", keys before" : "")
      << " sinks " << r.sinks << " causal " << r.causal << " align "
      << static_cast<int>(r.alignment) << " offset " << r.query_offset << " window " << r.window
      << " right " << r.window_right << " prefix " << r.prefix << " chunk " << r.chunk
      << " lengths " << r.key_lengths << " padding " << static_cast<int>(r.padding) << " segments "
      << r.segments << " keep " << name_of_span(r.keep) << " " << name_of(r.keep_dtype) << " "
      << r.kept << " dropout " << r.dropout << " poison " << r.poison << " relative "
      << r.relative_keys << " " << r.relative_queries << " " << r.relative_values << " shared "
      << r.relative_shared << " " << name_of(r.relative_dtype);
  return out;
}

}  // namespace volvelle::testing
