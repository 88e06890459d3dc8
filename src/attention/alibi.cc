#include "volvelle/attention/alibi.h"

#include <cmath>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

std::vector<double> alibi_slopes(int heads) {
  if (heads < 1) {
    throw InvalidArgument("[alibi] heads=" + std::to_string(heads) + " must be at least 1");
  }
  int power = 1;
  while (power <= heads / 2) power *= 2;
  std::vector<double> slopes;
  slopes.reserve(static_cast<std::size_t>(heads));
  for (int i = 1; i <= power; ++i) slopes.push_back(std::exp2(-8.0 * i / power));
  for (int i = 1; power + i <= heads; ++i) {  // the odd steps of the sequence for 2p heads
    slopes.push_back(std::exp2(-8.0 * (2 * i - 1) / (2.0 * power)));
  }
  return slopes;
}

}  // namespace volvelle
