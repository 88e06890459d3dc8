#include "check/properties/gradient_settings.h"

namespace volvelle::properties {

Setting with_every_gradient(RandomNumbers& draws) {
  const Sizes sizes{.batch = 2,
                    .key_heads = 2,
                    .group = 2,
                    .queries = 21,
                    .keys = 140,
                    .width = 8,
                    .value_width = 5};
  Setting setting = random_setting(sizes, draws);
  AttentionProblem& p = setting.problem;
  const auto unit = [&] { return draws.unit(); };
  p.causal = true;
  p.window = 90;
  p.softcap = 2;
  p.key_lengths = setting.integers({2}, {140, 131});
  p.bias = setting.own(filled(DType::float32, {4, 21, 140}, unit));
  p.slopes = setting.reals({4}, {0.0625, 0.03125, 0.015625, 0.0078125});
  p.bias_table = setting.own(filled(DType::float32, {4, 41}, unit));
  p.bucket_table = setting.own(filled(DType::float32, {4, 16}, unit));
  p.buckets = Buckets::one_way;
  p.max_distance = 60;
  p.sinks = setting.reals({4}, {3, 2, 4, 3});
  return setting;
}

Setting with_many_queries(RandomNumbers& draws) {
  const Sizes sizes{
      .key_heads = 1, .group = 3, .queries = 140, .keys = 37, .width = 20, .value_width = 16};
  Setting setting = random_setting(sizes, draws);
  AttentionProblem& p = setting.problem;
  p.causal = true;
  p.alignment = Alignment::top_left;
  p.prefix = 9;
  p.keep =
      setting.own(filled(DType::boolean, {140, 37}, [&] { return draws.one_in(4) ? 0.0 : 1.0; }));
  p.bias = setting.own(filled(DType::float32, {3, 1, 37}, [&] { return draws.unit(); }));
  return setting;
}

View gradient_of_output(Setting& setting, RandomNumbers& draws) {
  const AttentionProblem& p = setting.problem;
  Shape shape = p.q.shape();
  shape[3] = p.v.shape()[3];
  return setting.own(filled(p.q.dtype(), shape, [&] { return draws.normal(); }));
}

}  // namespace volvelle::properties
