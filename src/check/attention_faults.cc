#include "check/attention_faults.h"

#include <cmath>
#include <utility>

#include "check/fault_collector.h"
#include "check/rotary_faults.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using Problem = AttentionProblem;
using Resolved = ResolvedAttention;
using Candidates = std::vector<FaultCandidate>;

double root(std::int64_t n) { return 1 / std::sqrt(static_cast<double>(n)); }
std::string text(std::int64_t n) { return std::to_string(n); }
bool reads_offset(const Problem& p) {
  return p.causal || p.window > 0 || p.window_right > 0 || p.chunk > 0 || p.slopes ||
         p.bias_table || p.bucket_table || p.rotary;
}

bool masks_beside_keep(const Problem& p) {
  return p.causal || p.window > 0 || p.window_right > 0 || p.chunk > 0 || p.key_lengths ||
         p.query_segments;
}

// Rank-4 twin of q, k or v with the axes of heads and rows swapped.
View heads_and_rows_swapped(const View& view) {
  Axes shape = Axes::filled(4, 1), strides = Axes::filled(4, 0);
  for (int axis = 0; axis < view.rank(); ++axis) {
    const int at = 4 - view.rank() + axis;
    const int to = at == 1 ? 2 : at == 2 ? 1 : at;
    shape[to] = view.shape()[axis];
    strides[to] = view.strides()[axis];
  }
  return View(view.data(), view.dtype(), shape, strides);
}

// The numbers of (B,H,T,X) in memory order, read as (B,T,H,X) and brought to (B,H,T,X) order.
View bytes_read_as_rows_first(const Tensor& packed, std::int64_t heads, std::int64_t rows) {
  const std::int64_t width = packed.shape()[3];
  return View(packed.raw(), packed.dtype(), packed.shape(),
              {heads * rows * width, width, heads * width, 1});
}

Tensor on_four_axes(const View& view) {
  Axes shape = Axes::filled(4 - view.rank(), 1);
  Axes strides = Axes::filled(4 - view.rank(), 0);
  for (int axis = 0; axis < view.rank(); ++axis) {
    shape.push_back(view.shape()[axis]);
    strides.push_back(view.strides()[axis]);
  }
  return copy_of(View(view.data(), view.dtype(), shape, strides));
}

// Whether every position of a changed problem has its turn: other alignments and positions may
// lead out of the tables.
bool has_turns(const Problem& changed) {
  if (!changed.rotary) return true;
  try {
    resolve(changed);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

// One line per fault.
const FaultEntry kCatalog[] = {
    {{"scale_absent", "scores not scaled"},
     [](const Problem&, const Resolved&, FaultCollector&& c) {
       c.with_scale(1, "without scaling");
     }},
    {{"scale_over_width", "1/D instead of 1/sqrt(D)"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       const auto d = static_cast<double>(r.width);
       c.with_scale(1 / d, "scaled by 1/D, not 1/sqrt(D)");
     }},
    {{"scale_from_model_width", "1/sqrt(H*D): the width of all heads"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       c.with_scale(root(r.heads * r.width),
                    "scaled from the model width H*D=" + text(r.heads * r.width));
     }},
    {{"scale_from_tokens", "1/sqrt(T) or 1/sqrt(S): the number of tokens"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       if (r.keys > 0) c.with_scale(root(r.keys), "scaled from the token count S=" + text(r.keys));
       if (r.queries > 0 && r.queries != r.keys) {
         c.with_scale(root(r.queries), "scaled from the token count T=" + text(r.queries));
       }
     }},
    {{"scale_ignored", "1/sqrt(D) although another scale was asked for"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (p.scale) c.with_scale(root(r.width), "scaled by the default 1/sqrt(D)");
     }},
    {{"softmax_over_columns", "weights normalised down the columns"},
     [](const Problem&, const Resolved&, FaultCollector&& c) {
       c.inside(AttentionFault::softmax_over_columns,
                "with the softmax over columns (queries) instead of rows (keys)");
     }},
    {{"causal_missing", "the future is seen"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.causal) return;
       Problem& changed = c.add("without the causal mask").problem;
       changed.causal = false;
       changed.prefix = 0;  // it lifts causality only
     }},
    {{"causal_added", "a causal mask that was not asked for"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (p.causal) return;
       if (p.query_offset || r.queries == r.keys) {
         c.add("with a causal mask").problem.causal = true;
         return;
       }
       for (const Alignment at : {Alignment::bottom_right, Alignment::top_left}) {
         FaultCandidate& added = c.add(std::string("with a causal mask, aligned ") +
                                       (at == Alignment::top_left ? "top-left" : "bottom-right"));
         added.problem.causal = true;
         added.problem.alignment = at;
       }
     }},
    {{"strict_diagonal", "a query does not see its own key"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.causal) return;
       c.inside(AttentionFault::strict_diagonal,
                "with a strict diagonal: a query does not see its own key (j < p, not j <= p)");
     }},
    {{"other_alignment", "the causal corner at the other end"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (p.query_offset || r.queries == r.keys || !reads_offset(p)) return;
       const bool top = p.alignment == Alignment::top_left;
       c.add(top ? "aligned bottom-right (the last query at the last key), not top-left"
                 : "aligned top-left (the first query at the first key), not bottom-right")
           .problem.alignment = top ? Alignment::bottom_right : Alignment::top_left;
     }},
    {{"query_offset_ignored", "queries stand elsewhere than asked"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!p.query_offset || !reads_offset(p)) return;
       FaultCandidate& aligned = c.add("without the query offset: aligned bottom-right");
       aligned.problem.query_offset = View();
       aligned.problem.alignment = Alignment::bottom_right;
       if (r.queries == r.keys) return;
       FaultCandidate& top = c.add("without the query offset: aligned top-left");
       top.problem.query_offset = View();
       top.problem.alignment = Alignment::top_left;
     }},
    {{"window_one_more", "a window that does not count the query itself"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.window > 0) {
         c.add("with window " + text(p.window + 1)).problem.window = p.window + 1;
       }
       if (p.window_right > 0) {
         c.add("with right window " + text(p.window_right + 1)).problem.window_right =
             p.window_right + 1;
       }
     }},
    {{"window_one_less", "a window that ends one key early"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.window > 1) {
         c.add("with window " + text(p.window - 1)).problem.window = p.window - 1;
       }
       if (p.window_right > 1) {
         c.add("with right window " + text(p.window_right - 1)).problem.window_right =
             p.window_right - 1;
       }
     }},
    {{"window_missing", "no window"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.window > 0) c.add("without the window").problem.window = 0;
       if (p.window_right > 0) c.add("without the right window").problem.window_right = 0;
     }},
    {{"prefix_ignored", "causality within the prefix"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.causal && p.prefix > 0) c.add("without the prefix").problem.prefix = 0;
     }},
    {{"chunk_ignored", "attention beyond the chunk"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.chunk > 0) c.add("without chunks").problem.chunk = 0;
     }},
    {{"key_lengths_ignored", "padding is attended to"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.key_lengths) return;
       Problem& changed = c.add("without the key lengths: padding is attended to").problem;
       changed.key_lengths = View();
       changed.padding = Padding::right;
     }},
    {{"padding_on_other_side", "real keys taken from the wrong end"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.key_lengths) return;
       const bool left = p.padding == Padding::left;
       c.add(left ? "with padding on the right, not on the left"
                  : "with padding on the left, not on the right")
           .problem.padding = left ? Padding::right : Padding::left;
     }},
    {{"segments_ignored", "packed documents see each other"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.query_segments) return;
       Problem& changed = c.add("without segments: packed documents see each other").problem;
       changed.query_segments = View();
       changed.key_segments = View();
     }},
    {{"keep_ignored", "the mask was dropped"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.keep) c.add("without the keep mask").problem.keep = View();
     }},
    {{"mask_inverted", "what should be hidden is seen, and the reverse"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.keep) {
         c.inside(AttentionFault::mask_inverted,
                  "with the mask inverted: true (1) hides a key instead of keeping it");
       }
       if (masks_beside_keep(p)) {
         c.add("with all exclusion inverted: what should be hidden is seen").mask =
             MaskChange::inverted;
       }
     }},
    {{"empty_rows_nan", "a query that sees no key is NaN"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!r.has_exclusion() || p.sinks) return;
       c.add("but for the queries that see no key, which are NaN instead of 0").empty =
           EmptyRow::nan;
     }},
    {{"empty_rows_averaged", "a query that sees no key gets the mean of all values"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!r.has_exclusion() || p.sinks) return;
       c.add(
            "but for the queries that see no key, which get the mean of all values instead of 0 "
            "(masked with a large negative number?)")
           .empty = EmptyRow::mean_of_values;
     }},
    {{"keep_added_to_scores", "the mask's 0 and 1 added as numbers"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.keep)
         c.add("with the mask added to the scores as numbers").mask = MaskChange::keep_added;
     }},
    {{"mask_after_softmax", "excluded weights dropped without normalising again"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       if (!r.has_exclusion()) return;
       c.inside(AttentionFault::mask_after_softmax,
                "masked after the softmax: the weights left do not sum to 1");
     }},
    {{"key_heads_tiled", "query head h reads key head h mod G"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       if (r.key_heads < 2 || r.key_heads == r.heads) return;
       c.inside(AttentionFault::key_heads_tiled,
                "with key heads tiled (0,1,..,0,1,..): query head h must read key head h/" +
                    text(r.heads / r.key_heads));
     }},
    {{"cap_dropped", "no soft cap"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.softcap > 0) c.inside(AttentionFault::cap_dropped, "without the soft cap");
     }},
    {{"bias_before_scaling", "the bias was scaled too"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       if (!r.has_bias()) return;
       c.inside(AttentionFault::bias_before_scaling,
                "with the bias added before scaling: (q.k + bias) * scale");
     }},
    {{"bias_ignored", "an additive bias was dropped"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.bias) c.add("without the bias").problem.bias = View();
       if (p.slopes) c.add("without the slopes (ALiBi)").problem.slopes = View();
       if (p.bias_table) c.add("without the bias table").problem.bias_table = View();
       if (!p.bucket_table) return;
       Problem& changed = c.add("without the bucket table").problem;
       changed.bucket_table = View();
       changed.buckets = Buckets::none;
       changed.max_distance = Problem{}.max_distance;
     }},
    {{"slope_sign", "far keys are favoured"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.slopes) return;
       c.inside(AttentionFault::slope_sign, "with the sign of the slopes turned: +slope * |p - j|");
     }},
    {{"bucket_direction", "one-way buckets for two-way ones, or the reverse"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!p.bucket_table) return;
       const bool one = p.buckets == Buckets::one_way;
       const std::int64_t count = r.bucket_table.shape[1];
       if (one ? count < 4 || count % 2 != 0 : p.max_distance <= count / 2) return;
       c.add(one ? "with two-way buckets, not one-way" : "with one-way buckets, not two-way")
           .problem.buckets = one ? Buckets::two_way : Buckets::one_way;
     }},
    {{"positions_ignored", "explicit positions were dropped"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.query_positions && !p.key_positions) return;
       Problem& changed = c.add("without the explicit positions").problem;
       changed.query_positions = View();
       changed.key_positions = View();
     }},
    {{"sink_dropped", "the sink takes no weight"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.sinks) c.inside(AttentionFault::sink_dropped, "without the sink");
     }},
    {{"dropout_ignored", "no weight was dropped"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.dropout == 0) return;
       Problem& changed = c.add("without dropout").problem;
       changed.dropout = 0;
       changed.dropout_seed = 0;
     }},
    {{"layout", "the output's axes in another order"},
     [](const Problem&, const Resolved& r, FaultCollector&& c) {
       if (r.heads == r.queries) {
         c.add("with the output in (B,T,H,E) order").order = RowOrder::swapped;
       }
       c.add("with the output's (B,T,H,E) numbers reshaped, not transposed, to (B,H,T,E)").order =
           RowOrder::bytes;
     }},
    {{"layout_swapped", "heads taken for tokens and tokens for heads"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       const bool divides = r.keys > 0 && r.queries > 0 && r.queries % r.keys == 0;
       const bool plain = !r.has_bias() && !p.sinks && !p.key_lengths && !p.query_segments &&
                          !p.keep && !p.query_offset && !p.rotary && !p.relative_keys &&
                          !p.relative_queries && !p.relative_values;
       if (!divides || !plain) return;
       FaultCandidate& swapped =
           c.add("across heads instead of tokens: axes H and T of q, k, v swapped");
       for (View* view : {&swapped.problem.q, &swapped.problem.k, &swapped.problem.v}) {
         *view = heads_and_rows_swapped(*view);
       }
       swapped.problem.scale = r.scale;
       swapped.problem.query_positions = swapped.problem.key_positions =
           View();  // nothing reads them
       swapped.order = RowOrder::swapped;
     }},
    {{"layout_bytes", "memory in (B,H,T,D) order read as (B,T,H,D)"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (r.heads == 1 || r.queries < 2) return;
       FaultCandidate& read =
           c.add("with the memory of q, k, v read in (B,T,H,D) order, though it is (B,H,T,D)");
       read.owned = {on_four_axes(p.q), on_four_axes(p.k), on_four_axes(p.v)};
       read.problem.q = bytes_read_as_rows_first(read.owned[0], r.heads, r.queries);
       read.problem.k = bytes_read_as_rows_first(read.owned[1], r.key_heads, r.keys);
       read.problem.v = bytes_read_as_rows_first(read.owned[2], r.key_heads, r.keys);
       read.order = RowOrder::bytes;
     }},
};

}  // namespace

std::vector<FaultCandidate> attention_faults(const AttentionProblem& problem,
                                             const ResolvedAttention& resolved) {
  Candidates candidates;
  const auto collect = [&](const FaultEntry& entry) {
    entry.find(problem, resolved,
               FaultCollector(entry.fault.name, problem, resolved.scale, candidates));
  };
  for (const FaultEntry& entry : kCatalog) collect(entry);
  if (!problem.rotary) return candidates;
  for (const FaultEntry& entry : rotary_faults()) collect(entry);
  std::erase_if(candidates,
                [](const FaultCandidate& candidate) { return !has_turns(candidate.problem); });
  return candidates;
}

const std::vector<KnownFault>& known_faults() {
  static const std::vector<KnownFault> faults = [] {
    std::vector<KnownFault> all;
    for (const FaultEntry& entry : kCatalog) all.push_back(entry.fault);
    for (const FaultEntry& entry : rotary_faults()) all.push_back(entry.fault);
    return all;
  }();
  return faults;
}

}  // namespace volvelle
