#include "check/output_layout.h"

#include <string_view>

namespace volvelle {
namespace {

// Orders met in other programs. M is H*E, heads side by side.
constexpr std::string_view kOrders[] = {"BTHE", "BTM", "TBHE", "TBM", "BHET"};

std::string spelled(std::string_view order) {
  std::string text = "(";
  for (const char axis : order) {
    if (text.size() > 1) text += ',';
    text += axis == 'M' ? "H*E" : std::string(1, axis);
  }
  return text + ")";
}

int place_of(char axis) { return static_cast<int>(std::string_view("BHTE").find(axis)); }

// The array on our axes, or nothing when a length does not fit. Axes of length 1 may be missing
// in the array, so both sides are matched without them.
std::optional<View> read_as(const View& output, std::string_view order,
                            const std::int64_t (&ours)[4]) {
  Axes strides = Axes::filled(4, 0);
  int next = 0;
  for (const char axis : order) {
    const std::int64_t size = axis == 'M' ? ours[1] * ours[3] : ours[place_of(axis)];
    if (size == 1) continue;
    while (next < output.rank() && output.shape()[next] == 1) ++next;
    if (next == output.rank() || output.shape()[next] != size) return std::nullopt;
    const std::int64_t stride = output.strides()[next++];
    if (axis == 'M') {
      strides[1] = stride * ours[3];
      strides[3] = stride;
    } else {
      strides[place_of(axis)] = stride;
    }
  }
  while (next < output.rank() && output.shape()[next] == 1) ++next;
  if (next != output.rank()) return std::nullopt;
  return View(output.data(), output.dtype(), {ours[0], ours[1], ours[2], ours[3]}, strides);
}

}  // namespace

std::vector<OutputReading> other_readings(const View& output, const std::int64_t (&ours)[4]) {
  std::vector<OutputReading> readings;
  for (const std::string_view order : kOrders) {
    if (auto view = read_as(output, order, ours)) readings.push_back({spelled(order), *view});
  }
  return readings;
}

}  // namespace volvelle
