#include <array>

#include "volvelle/nn/placement.h"

namespace volvelle {
namespace {

// One line per placement; help, studies, `parse_placement` and tests read it.
const std::array kPlacements{
    PlacementEntry{"pre", "x + attention(norm(x)); x + feed_forward(norm(x))",
                   "norms inside the branches: the stream passes untouched",
                   "Xiong et al. 2020, arXiv:2002.04745; GPT-2"},
    PlacementEntry{"post", "norm(x + attention(x)); norm(x + feed_forward(x))",
                   "norms on the stream, after every addition",
                   "Vaswani et al. 2017, arXiv:1706.03762; BERT"},
    PlacementEntry{"sandwich", "x + norm(attention(norm(x))); x + norm(feed_forward(norm(x)))",
                   "a norm before and after each sublayer, inside the branch",
                   "Ding et al. 2021, arXiv:2105.13290; Gemma 2"},
    PlacementEntry{"reordered", "x + norm(attention(x)); x + norm(feed_forward(x))",
                   "norms on what the branches add, before they add it",
                   "Liu et al. 2021, arXiv:2111.09883; OLMo 2"},
    PlacementEntry{"parallel", "x + attention(n) + feed_forward(n)",
                   "both sublayers at once, under one norm", "GPT-J; Falcon 7B"},
    PlacementEntry{"parallel-two-norms", "x + attention(norm(x)) + feed_forward(norm(x))",
                   "both sublayers at once, each under a norm of its own",
                   "Black et al. 2022, arXiv:2204.06745 (GPT-NeoX)"},
    PlacementEntry{"deepnorm", "norm(alpha * x + attention(x)); norm(alpha * x + feed_forward(x))",
                   "post with a heavier stream and smaller initial values",
                   "Wang et al. 2022, arXiv:2203.00555"},
    PlacementEntry{"none", "x + attention(x); x + feed_forward(x)",
                   "no norm in the blocks: for comparison", "He et al. 2015, arXiv:1512.03385"},
};

}  // namespace

std::span<const PlacementEntry> norm_placements() { return kPlacements; }

}  // namespace volvelle
