#include <array>

#include "volvelle/studies/study.h"

namespace volvelle {
namespace {

// One line per study, in the order in which they are listed.
constexpr std::array kStudies{
    StudyEntry{"path-factors", "what is left of a gradient when each layer multiplies it"},
};

}  // namespace

std::span<const StudyEntry> studies() { return kStudies; }

}  // namespace volvelle
