#include "ops/kept_packings.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "autograd/reached_leaves.h"
#include "volvelle/autograd/no_grad.h"

namespace volvelle {
namespace {

constexpr std::size_t kFormats = 4;

// What a variable keeps: its packings by format, by itself and as a gate beside a partner.
// Immutable; a further packing makes another record.
struct Packings {
  struct Pair {
    PackedWeights packed;
    std::weak_ptr<Variable::State> up;
    std::uint64_t up_version = 0;
  };
  std::array<PackedWeights, kFormats> plain, transposed;
  std::array<Pair, kFormats> gates;
};

// One for all variables: packing itself uses all threads.
std::mutex& guard() {
  static std::mutex mutex;
  return mutex;
}

// Of what is kept nothing but this file makes anything.
Packings kept_with(const Variable& weight) {
  const std::shared_ptr<const void> kept = weight.derived();
  return kept ? *static_cast<const Packings*>(kept.get()) : Packings();
}

View transposed(const View& matrix) {
  const Shape& shape = matrix.shape();
  const Strides& strides = matrix.strides();
  return {matrix.data(), matrix.dtype(), {shape[1], shape[0]}, {strides[1], strides[0]}};
}

using ByFormat = std::array<PackedWeights, kFormats>;

// A large weight that is being trained changes before it is used again: a packing of it would only
// stand in memory, as large as the weight itself. Small ones may serve other stacks that share
// them.
bool is_in_training(const Variable& weight) {
  constexpr std::int64_t kSmall = 1 << 16;
  const bool trains = is_grad_enabled() || ReachedLeaves::is_listing();
  return weight.size() > kSmall && trains && weight.requires_grad();
}

PackedWeights packed(const Variable& weight, ByFormat Packings::* which, WeightFormat format,
                     int threads) {
  const std::lock_guard lock(guard());
  const auto at = static_cast<std::size_t>(format);
  const std::shared_ptr<const void> kept = weight.derived();
  if (kept) {
    const PackedWeights& found = (static_cast<const Packings*>(kept.get())->*which)[at];
    if (found) return found;
  }
  const bool plain = which == &Packings::plain;
  const View numbers = plain ? weight.view() : transposed(weight.view());
  if (is_in_training(weight)) return {numbers, format, {.threads = threads}};
  auto packings = std::make_shared<Packings>(kept_with(weight));
  PackedWeights& made = ((*packings).*which)[at];
  made = PackedWeights(numbers, format, {.threads = threads});
  weight.keep_derived(packings);
  return made;
}

}  // namespace

PackedWeights packed_once(const Variable& weight, WeightFormat format, int threads) {
  return packed(weight, &Packings::plain, format, threads);
}

PackedWeights transposed_packed_once(const Variable& weight, WeightFormat format, int threads) {
  return packed(weight, &Packings::transposed, format, threads);
}

PackedWeights gated_packed_once(const Variable& gate, const Variable& up, WeightFormat format,
                                int threads) {
  const std::lock_guard lock(guard());
  const auto at = static_cast<std::size_t>(format);
  auto packings = std::make_shared<Packings>(kept_with(gate));
  Packings::Pair& pair = packings->gates[at];
  if (pair.packed && pair.up.lock() == up.state() && pair.up_version == up.version()) {
    return pair.packed;
  }
  PackedWeights made = PackedWeights::gated(gate.view(), up.view(), format, {.threads = threads});
  if (is_in_training(gate) || is_in_training(up)) return made;
  pair.packed = std::move(made);
  pair.up = up.state();
  pair.up_version = up.version();
  gate.keep_derived(packings);
  return pair.packed;
}

}  // namespace volvelle
