#include "measure/attention_arrays.h"

#include "measure/positive_lengths.h"
#include "measure/random_array.h"

namespace volvelle {

AttentionCase filled_in(AttentionCase shape) {
  if (shape.key_heads == 0) shape.key_heads = shape.heads;
  if (shape.keys == 0) shape.keys = shape.queries;
  check_positive({{"batch", shape.batch},
                  {"heads", shape.heads},
                  {"key heads", shape.key_heads},
                  {"queries", shape.queries},
                  {"keys", shape.keys},
                  {"head width", shape.head_width}});
  return shape;
}

AttentionArrays::AttentionArrays(const AttentionCase& filled) : shape(filled) {
  const Shape queries{shape.batch, shape.heads, shape.queries, shape.head_width};
  const Shape keys{shape.batch, shape.key_heads, shape.keys, shape.head_width};
  q = random_array(shape.dtype, queries, 1);
  k = random_array(shape.dtype, keys, 2);
  v = random_array(shape.dtype, keys, 3);
}

AttentionProblem AttentionArrays::problem() const {
  AttentionProblem problem;
  problem.q = q.view();
  problem.k = k.view();
  problem.v = v.view();
  problem.causal = shape.causal;
  problem.window = shape.window;
  return problem;
}

}  // namespace volvelle
