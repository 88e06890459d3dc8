// Asks what `attend` would do before doing it, and shows what a rule broken looks like.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"

int main() {
  const std::vector<float> memory(4096 * 64);
  const volvelle::View array{memory.data(), {4096, 64}};

  volvelle::AttentionProblem problem{.q = array, .k = array, .v = array, .causal = true};
  problem.window = 256;
  const volvelle::AttentionPlan plan = volvelle::explain(problem);
  const auto& tiles = plan.tiles;
  std::printf("reason: %s\n", plan.reason.c_str());
  std::printf("tiles: %" PRId64 " skipped, %" PRId64 " partial, %" PRId64 " full\n", tiles.skipped,
              tiles.partial, tiles.full);

  problem.window = -1;
  try {
    volvelle::explain(problem);
  } catch (const volvelle::InvalidArgument& error) {
    std::printf("refused: %s\n", error.what());
    return tiles.skipped > tiles.full + tiles.partial ? 0 : 1;
  }
  return 1;
}
