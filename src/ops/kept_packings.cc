#include "ops/kept_packings.h"

#include <array>
#include <memory>
#include <mutex>

namespace volvelle {
namespace {

constexpr std::size_t kFormats = 4;

// What a variable keeps: its packings by format, alone and as a gate beside a partner. Immutable;
// a further packing makes another record.
struct Packings {
  struct Pair {
    PackedWeights packed;
    std::weak_ptr<Variable::State> up;
    std::uint64_t up_version = 0;
  };
  std::array<PackedWeights, kFormats> alone;
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

}  // namespace

PackedWeights packed_once(const Variable& weight, WeightFormat format, int threads) {
  const std::lock_guard lock(guard());
  const auto at = static_cast<std::size_t>(format);
  const std::shared_ptr<const void> kept = weight.derived();
  if (kept) {
    const PackedWeights& packed = static_cast<const Packings*>(kept.get())->alone[at];
    if (packed) return packed;
  }
  auto packings = std::make_shared<Packings>(kept_with(weight));
  packings->alone[at] = PackedWeights(weight.view(), format, {.threads = threads});
  weight.keep_derived(packings);
  return packings->alone[at];
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
  pair.packed = PackedWeights::gated(gate.view(), up.view(), format, {.threads = threads});
  pair.up = up.state();
  pair.up_version = up.version();
  gate.keep_derived(packings);
  return pair.packed;
}

}  // namespace volvelle
