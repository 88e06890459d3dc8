#include "volvelle/ops/split.h"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "ops/checks.h"
#include "ops/chunks.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/ops/in_place.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("split");

// Columns of a contiguous array that is seen as rows of `width` elements.
struct Columns {
  std::int64_t rows, width, first, count;
  std::size_t element;

  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * element;
  }
  std::size_t at(std::int64_t row) const { return bytes(row * width + first); }
};

template <class Row>
void for_each_row(const Columns& columns, Row&& row) {
  const std::int64_t together = std::max<std::int64_t>(1, kChunk / columns.width);
  parallel_for((columns.rows + together - 1) / together, resolve_threads(0),
               [&](std::int64_t task) {
                 const std::int64_t past = std::min(columns.rows, (task + 1) * together);
                 for (std::int64_t r = task * together; r < past; ++r) row(r);
               });
}

void copy_out(const Columns& columns, const void* from, void* to) {
  const std::size_t run = columns.bytes(columns.count);
  for_each_row(columns, [&](std::int64_t row) {
    std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(row) * run,
                static_cast<const char*>(from) + columns.at(row), run);
  });
}

// Zero bytes are zeros of every dtype.
void copy_into_zeros(const Columns& columns, const void* from, void* to) {
  const std::size_t run = columns.bytes(columns.count);
  const std::size_t before = columns.bytes(columns.first);
  const std::size_t whole = columns.bytes(columns.width);
  for_each_row(columns, [&](std::int64_t row) {
    char* const line = static_cast<char*>(to) + static_cast<std::size_t>(row) * whole;
    std::memset(line, 0, before);
    std::memcpy(line + before, static_cast<const char*>(from) + static_cast<std::size_t>(row) * run,
                run);
    std::memset(line + before + run, 0, whole - before - run);
  });
}

// The first part that comes back writes its columns and clears the others, the rest are added.
void give_back(GradientPass& pass, const Columns& columns) {
  if (!pass.wants(0)) return;
  const GradientSlot slot = pass.slot(0);
  const View gradient = pass.grad_output();
  if (slot.store == Store::overwrite) {
    copy_into_zeros(columns, gradient.data(), slot.to.data());
    return;
  }
  char* const first = static_cast<char*>(slot.to.data()) + columns.bytes(columns.first);
  add_into(MutableView(first, slot.to.dtype(), {columns.rows, columns.count}, {columns.width, 1}),
           View(gradient.data(), gradient.dtype(), {columns.rows, columns.count}));
}

void check(const Variable& x, std::span<const std::int64_t> lengths) {
  if (!x) kChecks.refuse("x is missing");
  if (x.rank() == 0) kChecks.refuse("x () has no axis to split");
  const std::int64_t axis = x.shape()[x.rank() - 1];
  std::int64_t left = axis;
  for (const std::int64_t length : lengths) {
    if (length <= 0) kChecks.refuse("length " + std::to_string(length) + " is not positive");
    if (length > left) {
      left = -1;
      break;
    }
    left -= length;
  }
  if (left == 0) return;
  std::string text;
  for (const std::int64_t length : lengths) {
    text += (text.empty() ? "" : ", ") + std::to_string(length);
  }
  kChecks.refuse("lengths {" + text + "} must add up to the last axis of x " +
                 to_string(x.shape()));
}

}  // namespace

std::vector<Variable> split(const Variable& x, std::span<const std::int64_t> lengths) {
  check(x, lengths);
  const std::int64_t width = x.shape()[x.rank() - 1];
  Columns columns{width == 0 ? 0 : x.size() / width, width, 0, 0, size_of(x.dtype())};
  std::vector<Variable> parts;
  for (const std::int64_t length : lengths) {
    columns.count = length;
    Shape shape = x.shape();
    shape[x.rank() - 1] = length;
    Tensor part(x.dtype(), shape);
    copy_out(columns, x.value().raw(), part.raw());
    parts.push_back(record("split", std::move(part), {x},
                           [columns](GradientPass& pass) { give_back(pass, columns); }));
    columns.first += length;
  }
  return parts;
}

}  // namespace volvelle
