#pragma once

#include <cstdint>
#include <string>

#include "attention/resolved.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Throws InvalidArgument("[operation] " + text). Texts are built by callers only when they throw:
/// the checks themselves cost no allocation.
[[noreturn]] void refuse(const std::string& text, const char* operation = "attend");

/// "q (2,12,64,32)", for messages.
std::string described(const char* name, const View& view);

/// Where one view's numbers go when it is laid out; `name` and `operation` are for messages.
struct NamedView {
  const char* name;
  const View& view;
  const char* operation = "attend";
};

/// No negative axis, a pointer where there are elements, and byte offsets that fit 63 bits.
void check_memory(const NamedView& array);

void check_floating(const NamedView& array);
void check_integer(const NamedView& array);

/// Ranks 2 to 4 on the last axes; lengths go to `shape` (missing axes 1, stride 0).
Strided4 on_four_axes(const NamedView& array, std::int64_t shape[4]);

/// NumPy's broadcasting to `shape`.
Strided4 broadcast_to(const NamedView& array, const std::int64_t shape[4]);

/// Rank 1 of exactly `count` elements, as (count, 1); `axis` is the letter for messages.
Strided2 one_per(const NamedView& array, char axis, std::int64_t count);

/// (rows, any width).
Strided2 table_of(const NamedView& array, std::int64_t rows);

/// (B, length), (1, length) or (length): the last two serve every batch row.
Strided2 per_row(const NamedView& array, std::int64_t batch, char axis, std::int64_t length);

}  // namespace volvelle
