#pragma once

#include <string>
#include <vector>

#include "io/number_list.h"

namespace volvelle {

/// One array as it is read from nested lists: finds its shape on the way and refuses what has
/// none. The functions that return text return what is wrong, or an empty text.
class NestedList {
 public:
  explicit NestedList(std::string name) : name_(std::move(name)) {}

  std::string open();
  std::string close();
  template <class Add>
  std::string add(Add&& add_to) {
    std::string problem = check_depth();
    if (!problem.empty()) return problem;
    if (!add_to(numbers_)) return place() + " mixes true and false with numbers";
    leaf_depth_ = static_cast<int>(counts_.size());
    count();
    return {};
  }

  bool is_open() const { return !counts_.empty(); }
  /// "q[1][0]": where the next entry stands.
  std::string place() const;
  const std::string& name() const { return name_; }

  /// What is wrong with the whole array, if anything; then it is to be had.
  std::string check(DType number_dtype) const;
  Tensor finish(DType number_dtype) const { return numbers_.finish(shape(), number_dtype); }

 private:
  std::string check_depth() const;
  void count() {
    if (!counts_.empty()) ++counts_.back();
  }
  Shape shape() const;

  std::string name_;
  NumberList numbers_;
  std::vector<std::int64_t> counts_;   // entries so far, of every list that is open
  std::vector<std::int64_t> lengths_;  // of the lists at each depth; -1 until one has been closed
  int leaf_depth_ = -1;                // lists around the numbers; -1 until there is a number
};

}  // namespace volvelle
