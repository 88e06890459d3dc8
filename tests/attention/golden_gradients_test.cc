// The gradients that PyTorch's autograd gives for 200 random problems over all options but dropout
// (tests/golden/make_gradients.py) beside those of every path.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "support/arrays.h"
#include "support/gradients.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

// The columns of `settings`, as the script has them.
enum Setting {
  kBatch,
  kKeyHeads,
  kGroup,
  kQueries,
  kKeys,
  kWidth,
  kValueWidth,
  kScale,
  kSoftcap,
  kBias,
  kSlopes,
  kTableReach,
  kBuckets,
  kBucketCount,
  kMaxDistance,
  kQueryPositions,
  kKeyPositions,
  kSinks,
  kCausal,
  kTopLeft,
  kQueryOffset,
  kWindow,
  kWindowRight,
  kPrefix,
  kChunk,
  kKeyLengths,
  kLeftPadding,
  kSegments,
  kKeep,
  kSettings,
};

// Reads arrays one after the other out of a flat one.
class Stream {
 public:
  explicit Stream(const Tensor& flat) : flat_(flat) {}
  Tensor take(const Shape& shape, DType dtype) {
    const std::int64_t count = element_count(shape);
    const auto bytes = static_cast<std::int64_t>(size_of(flat_.dtype()));
    if (at_ + count > flat_.size()) throw std::out_of_range("the golden file is too short");
    const View part(static_cast<const char*>(flat_.raw()) + at_ * bytes, flat_.dtype(), shape);
    at_ += count;
    return converted(part, dtype);
  }
  bool at_end() const { return at_ == flat_.size(); }

 private:
  const Tensor& flat_;
  std::int64_t at_ = 0;
};

struct GoldenProblem {
  AttentionProblem problem;
  Tensor grad_output;
  Gradients right;  ///< float64
  std::vector<Tensor> memory;
};

class GoldenFile {
 public:
  GoldenFile()
      : arrays_(read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/gradients/problems.npz")),
        settings_(array("settings")),
        inputs_(array("inputs")),
        integers_(array("integers")),
        keep_(array("keep")),
        gradients_(array("gradients")) {
    EXPECT_EQ(settings_.shape()[1], kSettings);
  }

  std::int64_t count() const { return settings_.shape()[0]; }
  bool at_end() const {
    return inputs_.at_end() && integers_.at_end() && keep_.at_end() && gradients_.at_end();
  }

  // The next problem, its floating arrays in `dtype`.
  GoldenProblem next(DType dtype) {
    row_ = settings_.data<double>() + kSettings * number_++;
    dtype_ = dtype;
    GoldenProblem made;
    read_numbers(made);
    read_floating(made);
    read_integers(made);
    if (on(kKeep)) hold(made, made.problem.keep, keep_.take(span(number(kKeep)), DType::uint8));
    for (const NamedGradient& gradient : named_gradients()) {
      const View& of = made.problem.*gradient.of;
      if (of) made.right.*gradient.array = gradients_.take(of.shape(), DType::float64);
    }
    return made;
  }

 private:
  const Tensor& array(const char* name) const {
    const Tensor* found = find_array(arrays_, name);
    if (found == nullptr) throw std::out_of_range(name);
    return *found;
  }
  std::int64_t number(Setting setting) const { return static_cast<std::int64_t>(row_[setting]); }
  bool on(Setting setting) const { return row_[setting] != 0; }
  std::int64_t heads() const { return number(kKeyHeads) * number(kGroup); }

  Shape span(std::int64_t kind) const {
    const std::int64_t b = number(kBatch), h = heads(), t = number(kQueries), s = number(kKeys);
    const Shape spans[] = {{},     {b, h, t, s}, {1, h, t, s}, {b, 1, t, s},
                           {t, s}, {b, 1, 1, s}, {},           {h, t, 1}};
    return spans[kind];
  }

  static void hold(GoldenProblem& made, View& place, const Tensor& tensor) {
    made.memory.push_back(tensor);
    place = tensor.view();
  }

  void read_numbers(GoldenProblem& made) const {
    AttentionProblem& p = made.problem;
    if (!std::isnan(row_[kScale])) p.scale = row_[kScale];
    p.softcap = row_[kSoftcap];
    p.causal = on(kCausal);
    if (on(kTopLeft)) p.alignment = Alignment::top_left;
    p.window = number(kWindow);
    p.window_right = number(kWindowRight);
    p.prefix = number(kPrefix);
    p.chunk = number(kChunk);
    if (on(kLeftPadding)) p.padding = Padding::left;
    if (!on(kBuckets)) return;
    p.buckets = number(kBuckets) == 2 ? Buckets::two_way : Buckets::one_way;
    p.max_distance = number(kMaxDistance);
  }

  void read_floating(GoldenProblem& made) {
    AttentionProblem& p = made.problem;
    const std::int64_t b = number(kBatch), g = number(kKeyHeads), h = heads();
    const std::int64_t t = number(kQueries), s = number(kKeys);
    hold(made, p.q, inputs_.take({b, h, t, number(kWidth)}, dtype_));
    hold(made, p.k, inputs_.take({b, g, s, number(kWidth)}, dtype_));
    hold(made, p.v, inputs_.take({b, g, s, number(kValueWidth)}, dtype_));
    made.grad_output = inputs_.take({b, h, t, number(kValueWidth)}, dtype_);
    if (on(kBias)) hold(made, p.bias, inputs_.take(span(number(kBias)), dtype_));
    if (on(kSlopes)) hold(made, p.slopes, inputs_.take({h}, dtype_));
    if (number(kTableReach) >= 0) {
      hold(made, p.bias_table, inputs_.take({h, 2 * number(kTableReach) + 1}, dtype_));
    }
    if (on(kBuckets)) {
      hold(made, p.bucket_table, inputs_.take({h, number(kBucketCount)}, dtype_));
    }
    if (on(kSinks)) hold(made, p.sinks, inputs_.take({h}, dtype_));
  }

  void read_integers(GoldenProblem& made) {
    AttentionProblem& p = made.problem;
    const std::int64_t b = number(kBatch), t = number(kQueries), s = number(kKeys);
    const auto take = [&](View& place, const Shape& shape) {
      hold(made, place, integers_.take(shape, DType::int32));
    };
    if (on(kQueryPositions)) take(p.query_positions, {b, t});
    if (on(kKeyPositions)) take(p.key_positions, {b, s});
    if (on(kQueryOffset)) take(p.query_offset, {b});
    if (on(kKeyLengths)) take(p.key_lengths, {b});
    if (!on(kSegments)) return;
    take(p.query_segments, {b, t});
    take(p.key_segments, {b, s});
  }

  NamedArrays arrays_;
  const Tensor& settings_;
  Stream inputs_, integers_, keep_, gradients_;
  std::int64_t number_ = 0;
  const double* row_ = nullptr;
  DType dtype_ = DType::float64;
};

void expect_golden(DType dtype) {
  GoldenFile file;
  EXPECT_EQ(file.count(), 200);
  for (std::int64_t n = 0; n < file.count(); ++n) {
    const GoldenProblem golden = file.next(dtype);
    const View grad = golden.grad_output.view();
    EXPECT_EQ(gradient_difference(golden.problem, grad, oracle_gradients(golden.problem, grad),
                                  golden.right),
              "")
        << "problem " << n << ": oracle";
    for (const Route& route : gradient_routes()) {
      EXPECT_EQ(gradient_difference(golden.problem, grad, gradients(golden.problem, grad, route),
                                    golden.right),
                "")
          << "problem " << n << ": " << route.name << " " << name_of(dtype);
    }
  }
  EXPECT_TRUE(file.at_end());
}

TEST(GoldenGradients, EveryPathGivesPyTorchsInFloat64) { expect_golden(DType::float64); }
TEST(GoldenGradients, EveryPathGivesPyTorchsInFloat32) { expect_golden(DType::float32); }
TEST(GoldenGradients, EveryPathGivesPyTorchsInFloat16) { expect_golden(DType::float16); }

// The control: with one gradient halved or a term left out, many of the problems differ, and at
// least one does for each fault that these problems can show.
TEST(GoldenGradients, ControlEveryFaultDiffersFromPyTorchs) {
  std::vector<int> caught(kBackwardFaults);
  GoldenFile file;
  for (std::int64_t n = 0; n < file.count(); ++n) {
    const GoldenProblem golden = file.next(DType::float64);
    const View grad = golden.grad_output.view();
    for (int fault = 1; fault < kBackwardFaults; ++fault) {
      const Gradients wrong =
          oracle_gradients(golden.problem, grad, static_cast<BackwardFault>(fault));
      caught[static_cast<std::size_t>(fault)] +=
          !gradient_difference(golden.problem, grad, wrong, golden.right).empty();
    }
  }
  for (int fault = 1; fault < kBackwardFaults; ++fault) {
    using F = BackwardFault;
    const F kind = static_cast<F>(fault);
    const bool shown =
        kind != F::dropout_unscaled && kind != F::turn_back_missing &&
        kind != F::relative_keys_halved && kind != F::relative_queries_halved &&
        kind != F::relative_values_halved && kind != F::relative_keys_dropped &&
        kind != F::relative_queries_dropped &&
        kind != F::relative_values_dropped;  // held to the written-out sum in relative_test.cc
    EXPECT_EQ(caught[static_cast<std::size_t>(fault)] > 0, shown) << "fault " << fault;
  }
}

}  // namespace
}  // namespace volvelle::testing
