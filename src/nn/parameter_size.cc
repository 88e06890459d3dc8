#include "nn/parameter_size.h"

#include <cstdio>
#include <string>

#include "base/machine_memory.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

double attention_parameters(const StackOptions& o) {
  const auto width = static_cast<double>(o.width);
  const double head =
      o.head_width > 0 ? static_cast<double>(o.head_width) : width / static_cast<double>(o.heads);
  const double queries = static_cast<double>(o.heads) * head;
  const double keys = static_cast<double>(o.key_heads > 0 ? o.key_heads : o.heads) * head;
  const double rows = queries + 2 * keys;
  const double biases = o.biases ? rows + width : 0;
  return rows * width + width * queries + biases + (o.query_key_norm ? 2 * head : 0);
}

double feed_forward_parameters(const StackOptions& o) {
  const auto width = static_cast<double>(o.width);
  const auto hidden = static_cast<double>(o.feed_forward);
  const double first = (o.gated ? 2 : 1) * (hidden * width + (o.biases ? hidden : 0));
  return first + width * hidden + (o.biases ? width : 0);
}

double norm_parameters(NormSlot slot, const StackOptions& o) {
  if (slot == NormSlot::none) return 0;
  const bool rms = slot == NormSlot::rms || (slot == NormSlot::usual && o.norm == NormKind::rms);
  return (rms ? 1 : 2) * static_cast<double>(o.width);
}

std::string amount(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

double block_parameters(const StackOptions& options, const NormPlacement& placement) {
  double count = 0;
  for (const PlacementStep& step : placement.steps) {
    count += norm_parameters(step.stream, options);
    bool shared = false;
    for (const PlacementBranch& branch : step.branches) {
      count += branch.sublayer == Sublayer::attention ? attention_parameters(options)
                                                      : feed_forward_parameters(options);
      if (!branch.shared || !shared) count += norm_parameters(branch.before, options);
      shared = shared || branch.shared;
      count += norm_parameters(branch.after, options);
    }
  }
  return count;
}

void check_parameters_fit(const char* module, double parameters, DType dtype) {
  check_numbers_fit(module, parameters, "parameters", dtype);
}

void check_numbers_fit(const char* module, double numbers, const char* meaning, DType dtype) {
  const double bytes = numbers * static_cast<double>(size_of(dtype));
  const auto memory = static_cast<double>(machine_memory());
  // Beyond 63 bits nothing fits, whatever the system says.
  if (bytes < 0x1p62 && (memory == 0 || bytes <= memory)) return;
  char count[32];
  std::snprintf(count, sizeof count, "%.4g", numbers);
  throw InvalidArgument("[" + std::string(module) + "] " + count + " " + meaning + " of " +
                        std::string(name_of(dtype)) + " need " + amount(bytes) +
                        "; this machine has " + amount(memory) + " of memory");
}

}  // namespace volvelle
