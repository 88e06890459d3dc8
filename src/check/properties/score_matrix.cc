#include "check/properties/score_matrix.h"

#include <utility>
#include <vector>

#include "attention/oracle_terms.h"
#include "attention/oracle_turns.h"
#include "attention/resolved.h"

namespace volvelle::properties {
namespace {

Tensor cells(const ResolvedAttention& given, const Cell& cell) {
  OracleTurns turns(given);
  const ResolvedAttention& r = turns.problem();
  Tensor matrix(DType::float64, {r.batch, r.heads, r.queries, r.keys});
  double* at = matrix.data<double>();
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      turns.select(b, h);
      for (std::int64_t i = 0; i < r.queries; ++i) {
        for (std::int64_t j = 0; j < r.keys; ++j) {
          const Pair pair{b, h, i, j};
          *at++ = cell(score(r, pair, AttentionFault::none), sees(r, pair, AttentionFault::none));
        }
      }
    }
  }
  return matrix;
}

}  // namespace

Setting with_scores_as_bias(const AttentionProblem& problem, const Cell& cell) {
  const ResolvedAttention r = resolve(problem);
  Setting setting;
  AttentionProblem& p = setting.problem;
  p.q = setting.own(Tensor::zeros(r.dtype, {r.batch, r.heads, r.queries, 1}));
  p.k = setting.own(Tensor::zeros(r.dtype, {r.batch, r.key_heads, r.keys, 1}));
  p.v = problem.v;
  p.bias = setting.own(cells(r, cell));
  p.sinks = problem.sinks;
  p.dropout = problem.dropout;
  p.dropout_seed = problem.dropout_seed;
  return setting;
}

Setting with_scores_as_products(const View& scores, const View& v) {
  const std::int64_t keys = scores.shape()[3];
  Setting setting;
  Tensor unit = Tensor::zeros(v.dtype(), {keys, keys});
  for (std::int64_t j = 0; j < keys; ++j) set_element(unit, j * keys + j, 1);
  const View one = setting.own(std::move(unit));
  setting.problem.q = setting.own(converted(scores, v.dtype()));
  setting.problem.k =
      View(one.data(), one.dtype(), {v.shape()[0], v.shape()[1], keys, keys}, {0, 0, keys, 1});
  setting.problem.v = v;
  setting.problem.scale = 1;
  return setting;
}

Tensor scaled_products(const AttentionProblem& problem, double scale) {
  AttentionProblem bare{.q = problem.q, .k = problem.k, .v = problem.v, .scale = scale};
  return cells(resolve(bare), [](double score, bool) { return score; });
}

}  // namespace volvelle::properties
