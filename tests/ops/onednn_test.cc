// A second opinion on whole products, where oneDNN (libdnnl-dev) was there when this was built.

#include <gtest/gtest.h>

#ifdef VOLVELLE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include <vector>

#include "base/random_numbers.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_backward.h"

namespace volvelle {
namespace {

#ifdef VOLVELLE_ONEDNN

std::vector<float> numbers(std::int64_t count, RandomNumbers& random) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& number : all) number = static_cast<float>(random.normal());
  return all;
}

// Both round each of `depth` additions; what they differ by grows with the root of that.
void expect_near(const std::vector<float>& ours, const std::vector<float>& theirs, double depth) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_NEAR(ours[i], theirs[i], 1e-6 * (8 + depth / 8)) << i;
  }
}

TEST(OneDnn, AgreesOnLinearLayersAndTheirGradients) {
  RandomNumbers random(1);
  struct Sizes {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Sizes{128, 768, 768}, Sizes{7, 1000, 513}, Sizes{300, 64, 1024}}) {
    const std::vector<float> x = numbers(m * k, random), w = numbers(n * k, random);
    const std::vector<float> dy = numbers(m * n, random);
    std::vector<float> y(dy.size()), theirs(dy.size());
    linear(View(x.data(), {m, k}), PackedWeights(View(w.data(), {n, k})),
           MutableView(y.data(), {m, n}));
    ASSERT_EQ(dnnl_sgemm('N', 'T', m, n, k, 1, x.data(), k, w.data(), k, 0, theirs.data(), n),
              dnnl_success);
    expect_near(y, theirs, static_cast<double>(k));

    std::vector<float> dx(x.size()), their_dx(x.size()), dw(w.size()), their_dw(w.size());
    linear_backward_input(View(dy.data(), {m, n}), View(w.data(), {n, k}),
                          MutableView(dx.data(), {m, k}));
    ASSERT_EQ(dnnl_sgemm('N', 'N', m, k, n, 1, dy.data(), n, w.data(), k, 0, their_dx.data(), k),
              dnnl_success);
    expect_near(dx, their_dx, static_cast<double>(n));
    linear_backward_weights(View(dy.data(), {m, n}), View(x.data(), {m, k}),
                            MutableView(dw.data(), {n, k}));
    ASSERT_EQ(dnnl_sgemm('T', 'N', n, k, m, 1, dy.data(), n, x.data(), k, 0, their_dw.data(), k),
              dnnl_success);
    expect_near(dw, their_dw, static_cast<double>(m));
  }
}

#else

TEST(OneDnn, AgreesOnLinearLayersAndTheirGradients) {
  GTEST_SKIP() << "built without oneDNN; install libdnnl-dev and configure again";
}

#endif

}  // namespace
}  // namespace volvelle
