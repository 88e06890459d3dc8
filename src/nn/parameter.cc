#include "nn/parameter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const char* module, const std::string& text) {
  throw InvalidArgument("[" + std::string(module) + "] " + text);
}

}  // namespace

Variable make_parameter(const char* module, DType dtype, const Shape& shape, double value) {
  if (dtype != DType::float32 && dtype != DType::float64) {
    refuse(module, "parameters are float32 or float64, not " + std::string(name_of(dtype)) +
                       "; for products in bfloat16 set ForwardOptions::compute");
  }
  Tensor tensor = Tensor::zeros(dtype, shape);
  if (value != 0) {
    if (dtype == DType::float32) {
      std::fill_n(tensor.data<float>(), tensor.size(), static_cast<float>(value));
    } else {
      std::fill_n(tensor.data<double>(), tensor.size(), value);
    }
  }
  return Variable(std::move(tensor), true);
}

void check_size(const char* module, const char* name, std::int64_t size) {
  if (size >= 1) return;
  refuse(module, std::string(name) + "=" + std::to_string(size) + " must be positive");
}

void check_dropout(const char* module, double dropout) {
  if (dropout >= 0 && dropout < 1) return;
  refuse(module, "dropout " + std::to_string(dropout) + " must be in [0, 1)");
}

std::optional<DType> compute_of(DType weights, const ForwardOptions& how) {
  if (how.compute != DType::float32 && how.compute != DType::bfloat16) {
    refuse("forward", "compute is " + std::string(name_of(how.compute)) +
                          "; products of float32 parameters are made in float32 or bfloat16 "
                          "(parameters in float64 compute in float64)");
  }
  if (weights != DType::float32 || how.compute == DType::float32) return {};
  return how.compute;
}

DType between_products(DType weights, const ForwardOptions& how) {
  return compute_of(weights, how).value_or(weights);
}

}  // namespace volvelle
