#include "cli/array_pool.h"

#include <algorithm>
#include <array>

#include "cli/command_line.h"
#include "cli/view_axes.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/io/arrays.h"

namespace volvelle::cli {
namespace {

// clang-format off
constexpr std::array kNames{
    "q", "k", "v", "qkv", "bias", "keep", "slopes", "sinks", "bias_table", "bucket_table",
    "key_lengths", "segments", "query_segments", "key_segments", "query_offset",
    "positions", "query_positions", "key_positions", "position_table", "relative_keys", "relative_queries",
    "relative_values", "rotary_cosines", "rotary_sines", "rotary_key_cosines", "rotary_key_sines",
    "grad_output"};
// What --out writes: it may lie in INPUT, and is nothing to read.
constexpr std::array kResults{
    "output", "lse", "entropy", "column_sums", "weights", "scores", "scaled", "capped", "biased",
    "excluded", "exponentials", "weights_unscaled", "row_sums", "dropped", "grad_q", "grad_k", "grad_v",
    "grad_bias", "grad_slopes", "grad_sinks", "grad_bias_table", "grad_bucket_table",
    "grad_relative_keys", "grad_relative_queries", "grad_relative_values", "turned_q", "turned_k",
    "grad_weights", "delta", "grad_scores", "grad_products"};
// clang-format on

template <class Names>
bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void ArrayPool::read_file(const std::string& path, std::vector<std::string>& remarks) {
  for (NamedArray& entry : read_arrays(path, kReadText)) {
    if (holds(kNames, entry.name)) {
      arrays_[entry.name] = {entry.array, entry.name + " in " + path, !is_binary_file(path)};
    } else if (holds(kResults, entry.name)) {
      remarks.push_back("'" + entry.name + "' in " + path +
                        " is a result and is not read; --expect compares with it");
    } else {
      throw UsageError(path + " holds '" + entry.name + "', which attention has no use for" +
                       suggestion(entry.name, {kNames.begin(), kNames.end()}));
    }
  }
}

void ArrayPool::read_single(const char* name, const std::string& path) {
  arrays_[name] = {read_array(path, kReadText), path, !is_binary_file(path)};
}

void ArrayPool::add(const char* name, const std::optional<std::string>& text, const char* option) {
  if (!text) return;
  forbid(name, option);
  arrays_[name] = array_of_option(option, *text);
}

void ArrayPool::add_integers(const char* name, const std::optional<std::string>& text,
                             const char* option) {
  if (!text) return;
  forbid(name, option);
  const std::vector<std::int64_t> numbers = integers_of(option, *text);
  Tensor array(DType::int64, Shape{static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), array.data<std::int64_t>());
  arrays_[name] = {array, option, true};
}

void ArrayPool::forbid(const char* name, const std::string& option) const {
  if (!has(name)) return;
  throw UsageError(source(name) + " and " + option + " both give the same; leave one out");
}

View ArrayPool::keep(Tensor array) {
  memory_.push_back(std::move(array));
  return memory_.back().view();
}

View ArrayPool::values(const char* name) {
  if (!has(name)) {
    throw UsageError(std::string("there is no '") + name + "'; attention needs q, k and v");
  }
  return keep(as_values(arrays_.at(name), dtype_));
}

View ArrayPool::values_beside(const char* name, DType dtype) {
  const SourcedArray& source = arrays_.at(name);
  if (!source.text) return keep(as_values(source, dtype_));
  return keep(as_values(source, dtype == DType::float64 ? DType::float64 : DType::float32));
}

View ArrayPool::bias(const char* name) {
  return has(name) ? keep(as_bias(arrays_.at(name), dtype_)) : View();
}

View ArrayPool::bias_list(const char* name) {
  return has(name) ? keep(as_list(as_bias(arrays_.at(name), dtype_))) : View();
}

View ArrayPool::integer_list(const char* name) {
  return has(name) ? keep(as_list(as_integers(arrays_.at(name)))) : View();
}

View ArrayPool::mask(const char* name) {
  return has(name) ? keep(as_mask(arrays_.at(name))) : View();
}

View ArrayPool::integer_rows(const char* name, std::int64_t batch) {
  if (!has(name)) return View();
  const View view = keep(as_integers(arrays_.at(name)));
  if (view.rank() == 1) return repeated_rows(view, batch);
  const bool one_row = view.rank() == 2 && view.shape()[0] == 1;
  return one_row && batch > 1 ? repeated_rows(picked(view, 0, 0), batch) : view;
}

}  // namespace volvelle::cli
