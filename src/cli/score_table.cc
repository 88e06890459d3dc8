#include "cli/score_table.h"

#include "cli/view_axes.h"
#include "volvelle/report/number.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {

double element(const View& matrix, std::int64_t i, std::int64_t j) {
  return element_as_double(matrix, i * matrix.strides()[0] + j * matrix.strides()[1]);
}

View head_of(const View& array, std::int64_t batch, std::int64_t head) {
  return picked(picked(array, 0, batch), 0, head);
}

std::string score_table(const View& matrix, const View& excluded, int digits) {
  return render(LabelledMatrix{
      .rows = matrix.shape()[0],
      .columns = matrix.shape()[1],
      .row_label = [](std::int64_t i) { return "query " + std::to_string(i); },
      .column_label = [](std::int64_t j) { return "key " + std::to_string(j); },
      .cell =
          [&](std::int64_t i, std::int64_t j) {
            return excluded && element(excluded, i, j) != 0
                       ? kExcludedMark
                       : rounded(element(matrix, i, j), digits);
          },
  });
}

std::string row_table(const View& matrix, const std::string& row, int digits) {
  return render(LabelledMatrix{
      .rows = matrix.shape()[0],
      .columns = matrix.shape()[1],
      .row_label = [&](std::int64_t i) { return row + ' ' + std::to_string(i); },
      .column_label = [](std::int64_t) { return std::string(); },
      .cell = [&](std::int64_t i,
                  std::int64_t j) { return rounded(element(matrix, i, j), digits); },
  });
}

}  // namespace volvelle::cli
