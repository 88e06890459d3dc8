#include "cli/hand_text.h"

#include "cli/score_table.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::int64_t kDotLines = 16;  // dot products written out; the table has them all

}  // namespace

std::string in_brackets(const std::string& number) {
  return number[0] == '-' ? '(' + number + ')' : number;
}

std::string vector_text(const View& matrix, std::int64_t row, int digits) {
  std::string text = "(";
  for (std::int64_t e = 0; e < matrix.shape()[1]; ++e) {
    if (e == kHandTerms) return text + ", ...)";
    text += (e > 0 ? ", " : "") + rounded(element(matrix, row, e), digits);
  }
  return text + ')';
}

std::string dot_lines(const DotProducts& dots, int digits) {
  const std::int64_t rows = dots.a.shape()[0], columns = dots.b.shape()[0];
  const auto factor = [&](const View& matrix, std::int64_t row, std::int64_t at) {
    return in_brackets(rounded(element(matrix, row, at), digits));
  };
  std::string text;
  std::int64_t lines = 0, more = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const bool by_row = dots.b_for_row && lines < kDotLines;
    const Tensor own = by_row ? dots.b_for_row(i) : Tensor();
    const View b = own ? own.view() : dots.b;
    for (std::int64_t j = 0; j < columns; ++j) {
      if (dots.excluded && element(dots.excluded, i, j) != 0) continue;
      if (lines == kDotLines) {
        ++more;
        continue;
      }
      ++lines;
      std::string line =
          dots.a_name + std::to_string(i) + " . " + dots.b_name + std::to_string(j) + " = ";
      for (std::int64_t d = 0; d < dots.a.shape()[1]; ++d) {
        if (d > 0) line += " + ";
        if (d == kHandTerms) {
          line += "...";
          break;
        }
        line += factor(dots.a, i, d) + '*' + factor(b, j, d);
      }
      text += wrapped(line + " = " + rounded(element(dots.products, i, j), digits), {}, 10);
    }
  }
  if (more > 0) text += "  ... " + grouped(more) + " more, in the table below\n";
  return text;
}

void HandSum::add(double factor, const View& matrix, std::int64_t row) {
  if (terms_ > kHandTerms) return;
  if (terms_ > 0) text_ += " + ";
  text_ += terms_++ == kHandTerms
               ? "..."
               : in_brackets(rounded(factor, digits_)) + ' ' + vector_text(matrix, row, digits_);
}

}  // namespace volvelle::cli
