#pragma once

#include <vector>

#include "support/naive_attention.h"

namespace volvelle {

/// What a backward pass can get wrong, each a member to be set wrong.
struct NaiveMistakes {
  bool scale = true;      ///< dQ and dK have the factor scale
  bool delta = true;      ///< dS takes delta away
  bool cap_slope = true;  ///< dS goes through the cap's slope
  bool sink = true;       ///< weights are normalised with the sink
};

/// Gradients in plain loops, apart from the library's: of sum(grad_output * output) of a
/// NaiveAttention. Nothing is summed over heads or broadcast axes yet.
struct NaiveGradients {
  std::vector<double> q;          ///< (B,H,T,D)
  std::vector<double> k_by_head;  ///< (B,H,S,D)
  std::vector<double> v_by_head;  ///< (B,H,S,E)
  std::vector<double> scores;     ///< (B,H,T,S): dS, the gradient of every additive bias
  std::vector<double> sinks;      ///< (H)
};
NaiveGradients naive_gradients(const NaiveAttention& attention,
                               const std::vector<float>& grad_output,
                               const NaiveMistakes& mistakes = {});

/// (B,H,S,X) summed over the query heads of each group: (B,G,S,X).
std::vector<float> summed_over_groups(const NaiveAttention& attention,
                                      const std::vector<double>& by_head);

std::vector<float> as_floats(const std::vector<double>& values);

}  // namespace volvelle
