// Turning queries and keys by their positions, by itself: one pass over memory.
#include <algorithm>
#include <cmath>
#include <string>

#include "attention/rotary_rows.h"
#include "attention/turned_inputs.h"
#include "measure/position_work.h"
#include "measure/positioned_attention.h"
#include "measure/sampled_rows.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

class TurnTask : public PositionTask {
 public:
  TurnTask(const PositionCase& one, int threads)
      : arrays_(one.shape),
        attention_(arrays_, one.scheme),
        problem_(resolve(attention_.problem())),
        threads_(threads) {
    if (!problem_.rotary.any()) {
      throw InvalidArgument("[bench] '" + one.scheme +
                            "' turns nothing; give a scheme that turns queries and keys");
    }
  }

  void run() override { TurnedInputs(problem_, KeyTurns::before, threads_); }

  double check() override {
    const TurnedInputs turned(problem_, KeyTurns::before, threads_);
    return std::max(checked(TurnedRows::queries, problem_.heads, problem_.queries, problem_.q,
                            turned.problem().q),
                    checked(TurnedRows::keys, problem_.key_heads, problem_.keys, problem_.k,
                            turned.problem().k));
  }

  // Read once and written once.
  double bytes() const override {
    return 2 * static_cast<double>(arrays_.q.bytes() + arrays_.k.bytes());
  }

 private:
  static View view_of(const Strided4& array, const Shape& shape) {
    return View(array.data, array.dtype, shape,
                {array.stride[0], array.stride[1], array.stride[2], array.stride[3]});
  }

  double checked(TurnedRows which, std::int64_t heads, std::int64_t tokens, const Strided4& given,
                 const Strided4& found) const {
    const Shape shape{problem_.batch, heads, tokens, problem_.width};
    const std::vector<SampledRow> rows = sampled_rows(problem_.batch, heads, tokens);
    Tensor wanted = rows_of(view_of(given, shape), rows);
    const Tensor ours = rows_of(view_of(found, shape), rows);
    double most = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::int64_t first = static_cast<std::int64_t>(r) * problem_.width;
      turn_rows(problem_, {which, rows[r].batch, rows[r].index, 1}, TurnDirection::forward,
                wanted.data<double>() + first);
      for (std::int64_t d = first; d < first + problem_.width; ++d) {
        const double apart = std::abs(ours.data<double>()[d] - wanted.data<double>()[d]);
        most = apart <= most ? most : apart;
      }
    }
    // Of pairs of about unit variance, rounded a few times.
    const double unit = problem_.q.dtype == DType::float64    ? 0x1p-53
                        : problem_.q.dtype == DType::bfloat16 ? 0x1p-8
                        : problem_.q.dtype == DType::float16  ? 0x1p-11
                                                              : 0x1p-24;
    if (!(most <= 32 * unit)) {
      throw InternalError("[bench] turned rows are off by " + std::to_string(most) +
                          " from those turned in double; please report this");
    }
    return most;
  }

  AttentionArrays arrays_;
  PositionedAttention attention_;
  ResolvedAttention problem_;
  int threads_;
};

}  // namespace

std::unique_ptr<PositionTask> turn_task(const PositionCase& one, int threads) {
  return std::make_unique<TurnTask>(one, threads);
}

}  // namespace volvelle
