#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

inline constexpr std::int64_t kHandTerms = 8;  // of one sum, and elements of one vector

/// "-1" as a factor or a summand behind a sign: "(-1)".
std::string in_brackets(const std::string& number);

/// A row of a matrix: "(1, 0.5)".
std::string vector_text(const View& matrix, std::int64_t row, int digits);

/// The dot products of the rows of `a` with those of `b`, one a line: "q0 . k1 = 1*0 + 0*1 = 0".
struct DotProducts {
  const char* a_name;
  View a;
  const char* b_name;
  View b;
  View products;  ///< (rows of a, rows of b)
  /// b as row i of a meets it, where that differs by row; in place of `b`.
  std::function<Tensor(std::int64_t i)> b_for_row = {};
  View excluded = {};  ///< of that shape: what is marked is left out; may be absent
};
std::string dot_lines(const DotProducts& dots, int digits);

/// A sum of vectors that is worked by hand: "0.67 (1, 2) + 0.33 (3, 4)".
class HandSum {
 public:
  explicit HandSum(int digits) : digits_(digits) {}
  void add(double factor, const View& matrix, std::int64_t row);
  const std::string& text() const { return text_; }

 private:
  int digits_;
  std::int64_t terms_ = 0;
  std::string text_;
};

}  // namespace volvelle::cli
