#include "report/study_cells.h"

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// A visitor: what is no number or list of numbers is the same in text and in full.
template <class OfNumber>
struct CellWriter {
  OfNumber number;

  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const std::vector<double>& list) const {
    std::string text;
    for (const double value : list) text += (text.empty() ? "" : " ") + number(value);
    return text;
  }
};

template <class OfNumber>
std::string written(const StudyCell& cell, OfNumber number) {
  return std::visit(CellWriter<OfNumber>{number}, cell);
}

}  // namespace

std::string cell_text(const StudyCell& cell, const StudyColumn& column) {
  if (const bool* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  return written(cell, [&](double value) {
    switch (column.form) {
      case StudyForm::percent:
        return fixed(value * 100, column.digits) + '%';
      case StudyForm::rounded:
        return rounded(value, column.digits);
      case StudyForm::scientific:
        return scientific(value, column.digits);
      case StudyForm::fixed:
        break;
    }
    return fixed(value, column.digits);
  });
}

std::string cell_in_full(const StudyCell& cell) {
  return written(cell, [](double value) { return shortest(value); });
}

}  // namespace volvelle
