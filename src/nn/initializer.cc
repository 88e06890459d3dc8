#include "volvelle/nn/initializer.h"

#include <cmath>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/nn/initial_values.h"

namespace volvelle {
namespace {

/// What every scheme does alike.
class Drawing : public Initializer {
 public:
  explicit Drawing(const InitializerOptions& options)
      : draws_(make_generator(options.stream, options.seed)) {}

  void normal(Variable& values) override { normal_values(values, draws_, 0, 1); }

 protected:
  AnyGenerator draws_;
};

void zero(Variable& bias) {
  if (bias) constant_values(bias, 0);
}

void zero_biases(AttentionParameters& of) {
  for (Variable* bias : {&of.in_proj_bias, &of.q_bias, &of.k_bias, &of.v_bias, &of.out_bias}) {
    zero(*bias);
  }
}

/// in_proj, or q, k and v, whichever are there.
template <class Draw>
void each_projection(AttentionParameters& of, Draw draw) {
  for (Variable* weight : {&of.in_proj_weight, &of.q_weight, &of.k_weight, &of.v_weight}) {
    if (*weight) draw(*weight);
  }
}

double branch_share(const InitializerOptions& options) {
  return 1 / std::sqrt(2 * static_cast<double>(options.layers));
}

class TorchScheme : public Drawing {
 public:
  /// `branch_factor` on what ends a branch: 1 draws what torch.nn does.
  TorchScheme(const InitializerOptions& options, double branch_factor)
      : Drawing(options), branch_factor_(branch_factor) {}

  void linear(Variable& weight, Variable& bias) override {
    torch_linear_values(weight, bias, draws_);
  }
  void branch_end(Variable& weight, Variable& bias) override {
    linear(weight, bias);
    shrink(weight);
    if (bias) shrink(bias);
  }
  void attention(AttentionParameters& parameters) override {
    linear(parameters.out_weight, parameters.out_bias);
    shrink(parameters.out_weight);
    each_projection(parameters, [this](Variable& w) { xavier_uniform_values(w, draws_); });
    zero_biases(parameters);
  }
  void embedding(Variable& table) override { torch_embedding_values(table, draws_); }
  std::unique_ptr<Initializer> clone() const override {
    return std::make_unique<TorchScheme>(*this);
  }

 private:
  void shrink(Variable& values) const {
    if (branch_factor_ != 1) scale_values(values, branch_factor_);
  }

  double branch_factor_;
};

class XavierScheme : public Drawing {
 public:
  using Drawing::Drawing;

  void linear(Variable& weight, Variable& bias) override {
    xavier_uniform_values(weight, draws_);
    zero(bias);
  }
  void branch_end(Variable& weight, Variable& bias) override { linear(weight, bias); }
  void attention(AttentionParameters& parameters) override {
    each_projection(parameters, [this](Variable& w) { xavier_uniform_values(w, draws_); });
    xavier_uniform_values(parameters.out_weight, draws_);
    zero_biases(parameters);
  }
  void embedding(Variable& table) override { xavier_uniform_values(table, draws_); }
  std::unique_ptr<Initializer> clone() const override {
    return std::make_unique<XavierScheme>(*this);
  }
};

// Radford et al. 2019 (GPT-2).
class NormalScheme : public Drawing {
 public:
  explicit NormalScheme(const InitializerOptions& options)
      : Drawing(options), branch_deviation_(kDeviation * branch_share(options)) {}

  void linear(Variable& weight, Variable& bias) override {
    normal_values(weight, draws_, 0, kDeviation);
    zero(bias);
  }
  void branch_end(Variable& weight, Variable& bias) override {
    normal_values(weight, draws_, 0, branch_deviation_);
    zero(bias);
  }
  void attention(AttentionParameters& parameters) override {
    each_projection(parameters, [this](Variable& w) { normal_values(w, draws_, 0, kDeviation); });
    normal_values(parameters.out_weight, draws_, 0, branch_deviation_);
    zero_biases(parameters);
  }
  void embedding(Variable& table) override { normal_values(table, draws_, 0, kDeviation); }
  std::unique_ptr<Initializer> clone() const override {
    return std::make_unique<NormalScheme>(*this);
  }

 private:
  static constexpr double kDeviation = 0.02;

  double branch_deviation_;
};

}  // namespace

Initializer::~Initializer() = default;

std::unique_ptr<Initializer> make_initializer(const InitializerOptions& options) {
  if (options.layers < 1) {
    throw InvalidArgument("[initializer] a stack has at least 1 layer, not " +
                          std::to_string(options.layers));
  }
  switch (options.scheme) {
    case Initialization::xavier:
      return std::make_unique<XavierScheme>(options);
    case Initialization::depth_scaled:
      return std::make_unique<TorchScheme>(options, branch_share(options));
    case Initialization::normal:
      return std::make_unique<NormalScheme>(options);
    case Initialization::torch:
      break;
  }
  return std::make_unique<TorchScheme>(options, 1);
}

std::string_view name_of(Initialization scheme) noexcept {
  switch (scheme) {
    case Initialization::torch:
      return "torch";
    case Initialization::xavier:
      return "xavier";
    case Initialization::depth_scaled:
      return "depth-scaled";
    case Initialization::normal:
      return "normal";
  }
  return "?";
}

}  // namespace volvelle
