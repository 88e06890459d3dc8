#include "training/flat_gradients.h"

#include <cstring>
#include <memory>
#include <utility>

#include "volvelle/ops/in_place.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

constexpr std::int64_t kAlignedElements = 16;

std::int64_t room(std::int64_t elements) {
  return (elements + kAlignedElements - 1) / kAlignedElements * kAlignedElements;
}

}  // namespace

FlatGradients::FlatGradients(std::vector<NamedParameter> parameters, std::int64_t shards)
    : parameters_(std::move(parameters)), reached_(parameters_.size(), false) {
  sum_ = make_buffer();
  if (shards > 1) next_ = make_buffer();
}

FlatGradients::~FlatGradients() {
  for (NamedParameter& parameter : parameters_) parameter.variable.unbind_grad();
}

FlatGradients::Buffer FlatGradients::make_buffer() const {
  std::int64_t elements = 0;
  for (const NamedParameter& parameter : parameters_) elements += room(parameter.variable.size());
  const DType dtype = parameters_.front().variable.dtype();
  Buffer made;
  made.all = Tensor::zeros(dtype, {elements});
  const auto owner = std::make_shared<Tensor>(made.all);
  auto* at = static_cast<std::byte*>(made.all.raw());
  for (const NamedParameter& parameter : parameters_) {
    made.parts.push_back(Tensor::adopt(owner, at, dtype, parameter.variable.shape()));
    at += static_cast<std::size_t>(room(parameter.variable.size())) * size_of(dtype);
  }
  return made;
}

void FlatGradients::bind(const Buffer& buffer) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].variable.bind_grad(buffer.parts[i]);
  }
}

void FlatGradients::open(std::int64_t shard) {
  if (shard == 0) reached_.assign(parameters_.size(), false);
  bind(shard == 0 ? sum_ : next_);
}

// What was not written would join the sum as it was left by an earlier step.
void FlatGradients::clear_unreached(Buffer& buffer) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].variable.grad()) {
      reached_[i] = true;
    } else {
      std::memset(buffer.parts[i].raw(), 0, buffer.parts[i].bytes());
    }
  }
}

void FlatGradients::close(std::int64_t shard) {
  if (shard == 0) {
    clear_unreached(sum_);
    return;
  }
  clear_unreached(next_);
  add_into(sum_.all.mutable_view(), next_.all.view());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].variable.bind_grad(sum_.parts[i],
                                      reached_[i] ? Store::accumulate : Store::overwrite);
  }
}

double FlatGradients::norm() const { return volvelle::norm(sum_.all.view()); }

std::int64_t FlatGradients::bytes() const {
  return static_cast<std::int64_t>(sum_.all.bytes() + (next_.all ? next_.all.bytes() : 0));
}

}  // namespace volvelle
