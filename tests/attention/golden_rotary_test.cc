// PyTorch's turned attention and its gradients (tests/golden/make_rotary.py) beside those of every
// path.
#include <gtest/gtest.h>

#include <cmath>

#include "support/arrays.h"
#include "support/gradients.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

const std::string kFolder = VOLVELLE_SOURCE_DIR "/tests/golden/rotary/";
const char* const kNames[] = {"halves", "pairs", "partial_grouped", "partial_pairs", "positions"};

struct GoldenTurn {
  GoldenTurn(const std::string& name, DType dtype) : arrays(read_arrays(kFolder + name + ".npz")) {
    problem = {.q = in("q", dtype), .k = in("k", dtype), .v = in("v", dtype)};
    problem.rotary = {.cosines = in("cosines", DType::float64),
                      .sines = in("sines", DType::float64)};
    if (find_array(arrays, "interleaved")) problem.rotary.pairing = RotaryPairing::interleaved;
    problem.causal = find_array(arrays, "causal") != nullptr;
    if (const Tensor* at = find_array(arrays, "query_positions")) {
      problem.query_positions = at->view();
      problem.key_positions = find_array(arrays, "key_positions")->view();
    }
    grad_output = in("grad_output", dtype);
    right.q = given("grad_q");
    right.k = given("grad_k");
    right.v = given("grad_v");
  }

  Tensor given(const char* name) const {
    return converted(find_array(arrays, name)->view(), DType::float64);
  }
  View in(const char* name, DType dtype) {
    made.push_back(converted(find_array(arrays, name)->view(), dtype));
    return made.back().view();
  }

  // The largest difference of an output to PyTorch's.
  double off(const Answer& ours) const {
    const std::vector<double> a = values_of(ours.output.view());
    const std::vector<double> b = values_of(given("output").view());
    double most = 0;
    for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, std::fabs(a[n] - b[n]));
    return most;
  }

  NamedArrays arrays;
  std::vector<Tensor> made;
  AttentionProblem problem;
  View grad_output;
  Gradients right;
};

TEST(GoldenRotary, EveryPathGivesPyTorchsAnswerAndGradients) {
  for (const DType dtype : {DType::float64, DType::float32}) {
    const double near = dtype == DType::float64 ? 1e-13 : 5e-6;
    for (const char* name : kNames) {
      const GoldenTurn golden(name, dtype);
      EXPECT_LT(golden.off(oracle_answer(golden.problem)), near) << name << " oracle";
      EXPECT_EQ(
          gradient_difference(golden.problem, golden.grad_output,
                              oracle_gradients(golden.problem, golden.grad_output), golden.right),
          "")
          << name << " oracle";
      for (const Route& route : gradient_routes()) {
        EXPECT_LT(golden.off(answer(golden.problem, route)), near) << name << " " << route.name;
        EXPECT_EQ(
            gradient_difference(golden.problem, golden.grad_output,
                                gradients(golden.problem, golden.grad_output, route), golden.right),
            "")
            << name << " " << route.name;
      }
    }
  }
}

// The control: another pairing, and gradients that were not turned back, are not PyTorch's.
TEST(GoldenRotary, ControlsDiffer) {
  for (const char* name : kNames) {
    GoldenTurn golden(name, DType::float64);
    EXPECT_NE(gradient_difference(golden.problem, golden.grad_output,
                                  oracle_gradients(golden.problem, golden.grad_output,
                                                   BackwardFault::turn_back_missing),
                                  golden.right),
              "")
        << name;
    golden.problem.rotary.pairing = golden.problem.rotary.pairing == RotaryPairing::split_half
                                        ? RotaryPairing::interleaved
                                        : RotaryPairing::split_half;
    EXPECT_GT(golden.off(oracle_answer(golden.problem)), 1e-3) << name;
  }
}

}  // namespace
}  // namespace volvelle::testing
