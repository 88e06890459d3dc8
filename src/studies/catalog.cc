#include <array>

#include "volvelle/studies/study.h"

namespace volvelle {
namespace {

// One line per study, in the order in which they are listed.
constexpr std::array kStudies{
    StudyEntry{"path-factors", "what is left of a gradient when each layer multiplies it"},
    StudyEntry{"stream-growth", "how a residual stream grows, and a late branch's share of it"},
    StudyEntry{"norm-placement", "how evenly gradients reach the layers, by where the norms stand"},
    StudyEntry{"saturation", "why scores are divided by the root of the head width"},
    StudyEntry{"warm-up", "at which rate stacks stop learning, and what a warm-up changes"},
    StudyEntry{"extrapolation", "trained at one length, tested at longer ones: which scheme holds"},
    StudyEntry{"position-faults",
               "what each mistake in the use of positions costs a trained network"},
    StudyEntry{"sinusoidal", "what the table of sines and cosines promises, and what breaks it"},
    StudyEntry{"positions", "which ways of giving position let attention see order"},
    StudyEntry{"rotary", "what turning queries and keys does, and which mistakes show"},
    StudyEntry{"attention-cost", "from which length on attention costs more than its projections"},
};

}  // namespace

std::span<const StudyEntry> studies() { return kStudies; }

}  // namespace volvelle
