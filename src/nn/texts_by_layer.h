#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volvelle {

/// Which text each layer has, where one line of text says it for all: "a" for all layers; "3: a |
/// b" for three of the one, then the other to the end; "(3: a | b)" repeats what stands in the
/// brackets. A part without a number is one layer, the last one all that remain. Views of `text`.
/// Throws InvalidArgument, in the name of `operation`, where the parts do not fit.
std::vector<std::string_view> texts_by_layer(const char* operation, std::string_view text,
                                             std::int64_t layers);

/// The text without blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace volvelle
