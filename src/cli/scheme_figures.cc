#include "cli/scheme_figures.h"

#include <array>
#include <string_view>

namespace volvelle::cli {
namespace {

struct Figures {
  std::string_view scheme;
  void (*add)(const SchemeCase& scheme, StudyResult& sheet);
};

// The others have their facts and settings only.
constexpr std::array kFigures{
    Figures{"rotary", add_rotary_figures},
    Figures{"xpos", add_rotary_figures},
    Figures{"sinusoidal", add_sinusoidal_figures},
    Figures{"alibi", add_alibi_figures},
    Figures{"t5", add_bucket_figures},
};

}  // namespace

void add_figures(const SchemeCase& scheme, StudyResult& sheet) {
  for (const Figures& figures : kFigures) {
    if (scheme.text.scheme == figures.scheme) figures.add(scheme, sheet);
  }
}

}  // namespace volvelle::cli
