#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// Where text goes on the page.
struct TextLayout {
  int width = 80;     ///< columns of the page
  int indent = 2;     ///< spaces before each line
  int max_rows = 16;  ///< of a matrix; more are elided in the middle
};

/// Rows of text under titles. Numbers stand point under point, other text to the left.
struct Table {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;  ///< shorter rows are filled up with nothing
};

/// A matrix with labels, its cells asked for one by one: only those that are shown.
struct LabelledMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::function<std::string(std::int64_t)> row_label;
  std::function<std::string(std::int64_t)> column_label;
  std::function<std::string(std::int64_t, std::int64_t)> cell;
};

/// Each line ends with a newline, none with a space.
VOLVELLE_API std::string render(const Table& table, const TextLayout& layout = {});

/// The same for a matrix. What does not fit the page is elided in the middle ("..."), first and
/// last stay.
VOLVELLE_API std::string render(const LabelledMatrix& matrix, const TextLayout& layout = {});

/// Blocks of lines next to each other, `gap` spaces apart, when they fit the page; else one below
/// the other with an empty line between. The indent is already in the blocks.
VOLVELLE_API std::string beside(const std::vector<std::string>& blocks,
                                const TextLayout& layout = {}, int gap = 2);

/// Text broken at spaces to fit the page; further lines start `hang` deeper.
VOLVELLE_API std::string wrapped(const std::string& text, const TextLayout& layout = {},
                                 int hang = 0);

}  // namespace volvelle
