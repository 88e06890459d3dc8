#include "io/nested_list.h"

namespace volvelle {

std::string NestedList::place() const {
  std::string text = name_;
  for (const std::int64_t count : counts_)
    text.append("[").append(std::to_string(count)).append("]");
  return text;
}

std::string NestedList::open() {
  const int depth = static_cast<int>(counts_.size());
  if (depth == leaf_depth_) return place() + " is a list where its neighbours are numbers";
  if (depth == Axes::kMaxRank) {
    return name_ + " is nested deeper than " + std::to_string(Axes::kMaxRank) + " lists";
  }
  if (depth == static_cast<int>(lengths_.size())) lengths_.push_back(-1);
  counts_.push_back(0);
  return {};
}

std::string NestedList::check_depth() const {
  const int depth = static_cast<int>(counts_.size());
  if (depth < static_cast<int>(lengths_.size())) {
    return place() + " is a number where its neighbours are lists";
  }
  return {};
}

std::string NestedList::close() {
  const std::int64_t length = counts_.back();
  counts_.pop_back();
  std::int64_t& expected = lengths_[counts_.size()];
  if (expected >= 0 && length != expected) {
    return "ragged lists: " + place() + " has " + std::to_string(length) +
           (length == 1 ? " entry" : " entries") + ", those before it have " +
           std::to_string(expected);
  }
  expected = length;
  count();
  return {};
}

Shape NestedList::shape() const {
  Shape shape;
  for (const std::int64_t length : lengths_) shape.push_back(length);
  return shape;
}

std::string NestedList::check(DType number_dtype) const {
  const std::optional<std::size_t> bad = numbers_.first_beyond(number_dtype);
  if (!bad) return {};
  // From the flat index back to the place.
  auto index = static_cast<std::int64_t>(*bad);
  std::string where;
  for (std::size_t axis = lengths_.size(); axis-- > 0;) {
    where = std::string("[") + std::to_string(index % lengths_[axis]) + "]" + where;
    index /= lengths_[axis];
  }
  return name_ + where + " is beyond the range of " + std::string(name_of(number_dtype)) +
         "; read it as float64";
}

}  // namespace volvelle
