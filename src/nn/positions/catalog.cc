#include "volvelle/nn/positions/catalog.h"

#include <array>
#include <string>

#include "nn/parameter.h"
#include "nn/positions/schemes.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[positions] " + text); }

PositionContext filled(PositionContext context) {
  constexpr const char* kOperation = "positions";
  check_size(kOperation, "width", context.width);
  check_size(kOperation, "heads", context.heads);
  if (context.key_heads == 0) context.key_heads = context.heads;
  check_size(kOperation, "key_heads", context.key_heads);
  if (context.heads % context.key_heads != 0) {
    refuse("H=" + std::to_string(context.heads) +
           " heads are not a multiple of G=" + std::to_string(context.key_heads) + " key heads");
  }
  if (context.head_width == 0) {
    if (context.width % context.heads != 0) {
      refuse("width " + std::to_string(context.width) + " is not a multiple of " +
             std::to_string(context.heads) + " heads; set the width of heads");
    }
    context.head_width = context.width / context.heads;
  }
  check_size(kOperation, "head_width", context.head_width);
  if (context.dtype != DType::float32 && context.dtype != DType::float64) {
    refuse("parameters are float32 or float64, not " + std::string(name_of(context.dtype)));
  }
  return context;
}

// A text that no parser made may hold anything.
void check_keys(const PositionText& text, const PositionEntry& entry) {
  PositionText checked = parse_positions(to_text(text));
  if (checked.scheme != entry.name || checked.settings.size() != text.settings.size()) {
    refuse("'" + to_text(text) + "' is no scheme with settings");
  }
}

}  // namespace

std::span<const PositionEntry> position_schemes() {
  // One line per scheme; `volvelle schemes`, `parse_positions` and tests read it.
  static const std::array kSchemes{
      PositionEntry{"none",
                    PositionDoor::none,
                    "no positions: order shows through a mask only",
                    "Kazemnejad et al. 2023, arXiv:2305.19466",
                    {},
                    make_no_positions},
      PositionEntry{"sinusoidal", PositionDoor::tokens, "fixed sines and cosines per position",
                    "Vaswani et al. 2017, arXiv:1706.03762", sinusoidal_keys(), make_sinusoidal},
      PositionEntry{"learned", PositionDoor::tokens, "a learned vector per position",
                    "Gehring et al. 2017, arXiv:1705.03122; GPT-2", learned_keys(), make_learned},
      PositionEntry{"rotary", PositionDoor::turn, "queries and keys turn by their positions",
                    "Su et al. 2021, arXiv:2104.09864", rotary_keys(), make_rotary},
      PositionEntry{"xpos", PositionDoor::turn, "rotary, with products that fade with distance",
                    "Sun et al. 2022, arXiv:2212.10554", xpos_keys(), make_xpos},
      PositionEntry{"alibi", PositionDoor::bias, "a penalty on scores that grows with distance",
                    "Press et al. 2021, arXiv:2108.12409", alibi_keys(), make_alibi},
      PositionEntry{"t5", PositionDoor::bias, "a learned number per bucket of offsets",
                    "Raffel et al. 2019, arXiv:1910.10683", t5_keys(), make_t5},
      PositionEntry{"clamped", PositionDoor::bias, "a learned number per offset, far ones shared",
                    "Liu et al. 2021, arXiv:2103.14030 (Swin); Shaw et al. 2018", clamped_keys(),
                    make_clamped},
      PositionEntry{"relative", PositionDoor::vectors,
                    "a learned vector per offset, on keys, queries or values",
                    "Shaw et al. 2018, arXiv:1803.02155", relative_keys(), make_relative},
  };
  return kSchemes;
}

const PositionEntry& position_scheme(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const PositionEntry& entry : position_schemes()) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse("unknown scheme '" + std::string(name) + "'" + suggestion(name, names) + " (one of " +
         list + ")");
}

std::shared_ptr<PositionScheme> make_positions(const PositionText& text,
                                               const PositionContext& context) {
  const PositionEntry& entry = position_scheme(text.scheme);
  check_keys(text, entry);
  return entry.make(text, filled(context));
}

std::shared_ptr<PositionScheme> make_positions(std::string_view text,
                                               const PositionContext& context) {
  const PositionText parsed = parse_positions(text);
  return position_scheme(parsed.scheme).make(parsed, filled(context));
}

}  // namespace volvelle
