#include "volvelle/nn/positions/pairing.h"

#include <cstring>
#include <numeric>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[pairing] " + text); }

void check_heads(const char* name, std::int64_t heads) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (heads >= 1 && heads <= kMost) return;
  refuse(std::string(name) + "=" + std::to_string(heads) + " must be positive, and at most 2^31");
}

// The first `heads` heads of `rows` in the given order, what follows as it is.
Tensor reordered(const View& rows, std::int64_t heads, const std::vector<std::int64_t>& order) {
  const Tensor from = copy_of(rows);
  Tensor to = copy_of(rows);
  const auto width = static_cast<std::int64_t>(order.size());
  const std::size_t row_bytes = from.bytes() / static_cast<std::size_t>(from.shape()[0]);
  const auto* const source = static_cast<const std::byte*>(from.raw());
  auto* const target = static_cast<std::byte*>(to.raw());
  for (std::int64_t row = 0; row < heads * width; ++row) {
    const std::int64_t moved = row - row % width + order[static_cast<std::size_t>(row % width)];
    std::memcpy(target + static_cast<std::size_t>(row) * row_bytes,
                source + static_cast<std::size_t>(moved) * row_bytes, row_bytes);
  }
  return to;
}

void check_rows(const View& rows, std::int64_t wanted, const std::string& meaning) {
  if (!rows || rows.rank() < 1) refuse("rows are missing");
  if (rows.shape()[0] == wanted) return;
  refuse("rows " + to_string(rows.shape()) + " must have " + std::to_string(wanted) +
         " rows: " + meaning + "; a key projection has the heads of keys, not of queries");
}

}  // namespace

std::vector<std::int64_t> pairing_order(RotaryPairing from, RotaryPairing to,
                                        std::int64_t head_width, std::int64_t columns) {
  check_heads("head_width", head_width);
  if (columns == 0) columns = head_width;
  if (columns < 2 || columns % 2 != 0 || columns > head_width) {
    refuse(std::to_string(columns) + " turning columns of a head of width " +
           std::to_string(head_width) +
           ": they must be even, at least 2 and no more than the head");
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(head_width));
  std::iota(order.begin(), order.end(), 0);
  if (from == to) return order;
  const std::int64_t half = columns / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const auto apart = static_cast<std::size_t>(i), side = static_cast<std::size_t>(2 * i);
    const auto other = static_cast<std::size_t>(half + i);
    if (to == RotaryPairing::split_half) {
      order[apart] = 2 * i;
      order[other] = 2 * i + 1;
    } else {
      order[side] = i;
      order[side + 1] = half + i;
    }
  }
  return order;
}

Tensor with_pairing(const View& rows, RotaryPairing from, RotaryPairing to,
                    const RotaryHeads& heads) {
  check_heads("heads", heads.heads);
  const auto order = pairing_order(from, to, heads.head_width, heads.columns);
  check_rows(rows, heads.heads * heads.head_width,
             std::to_string(heads.heads) + " heads of width " + std::to_string(heads.head_width));
  return reordered(rows, heads.heads, order);
}

Tensor packed_with_pairing(const View& rows, RotaryPairing from, RotaryPairing to,
                           const PackedHeads& heads) {
  const std::int64_t key_heads = heads.key_heads == 0 ? heads.heads : heads.key_heads;
  check_heads("heads", heads.heads);
  check_heads("key_heads", key_heads);
  const auto order = pairing_order(from, to, heads.head_width, heads.columns);
  check_rows(rows, (heads.heads + 2 * key_heads) * heads.head_width,
             std::to_string(heads.heads) + " heads of queries and twice " +
                 std::to_string(key_heads) + " of keys and values, each of width " +
                 std::to_string(heads.head_width));
  return reordered(rows, heads.heads + key_heads, order);
}

}  // namespace volvelle
