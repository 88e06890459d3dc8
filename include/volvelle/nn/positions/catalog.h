#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/positions/scheme.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// The model that a scheme is to serve.
struct PositionContext {
  std::int64_t width = 64;       ///< C
  std::int64_t heads = 4;        ///< H
  std::int64_t head_width = 0;   ///< D; 0: width / heads
  std::int64_t key_heads = 0;    ///< G; 0: as many as heads
  bool causal = true;            ///< decides between one-way and two-way where a scheme has both
  DType dtype = DType::float32;  ///< of parameters
};

/// A scheme by name with its settings, as text: "rotary", "alibi(learned=yes)",
/// "rotary(base=500000, scaling=llama3, factor=8, low=1, high=4, original=8192)".
struct PositionSetting {
  std::string key;
  std::string value;
};
struct PositionText {
  std::string scheme;
  std::vector<PositionSetting> settings;  ///< in the order given
};
/// Throws InvalidArgument: what is not of this form (with the column), an unknown scheme or key
/// (with a suggestion), a key given twice.
VOLVELLE_API PositionText parse_positions(std::string_view text);
VOLVELLE_API std::string to_text(const PositionText& text);

/// One for each layer, as `placements_by_layer` reads them: "rotary" for all; "3: rotary | none"
/// for three of the one, then the other to the end; "(3: rotary | none)" repeats what stands in the
/// brackets.
VOLVELLE_API std::vector<PositionText> positions_by_layer(std::string_view text,
                                                          std::int64_t layers);

/// A setting that a scheme reads.
struct PositionKey {
  const char* name;
  const char* values;  ///< "number > 0", "yes|no", "linear|ntk|...", ...
  const char* sentence;
  const char* standard;   ///< the value without it; "" where it must be given or depends on others
  const char* when = "";  ///< words of `scaling` with which alone it is read; "": with all
};

/// A line of the table of schemes.
struct PositionEntry {
  const char* name;
  PositionDoor door;
  const char* sentence;
  const char* source;
  std::span<const PositionKey> keys;
  std::shared_ptr<PositionScheme> (*make)(const PositionText& text, const PositionContext& context);
};
VOLVELLE_API std::span<const PositionEntry> position_schemes();
/// Throws InvalidArgument for an unknown name, with a suggestion.
VOLVELLE_API const PositionEntry& position_scheme(std::string_view name);

/// Throws InvalidArgument for settings that are missing, contradict each other or do not fit the
/// model (an odd rotary width, say).
VOLVELLE_API std::shared_ptr<PositionScheme> make_positions(const PositionText& text,
                                                            const PositionContext& context);
VOLVELLE_API std::shared_ptr<PositionScheme> make_positions(std::string_view text,
                                                            const PositionContext& context);

}  // namespace volvelle
