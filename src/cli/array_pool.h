#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/array_roles.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// The arrays of one request by name, from INPUT and from options, each given at most once; and
/// the memory of the views made of them.
class ArrayPool {
 public:
  /// `dtype` is what q, k and v become; absent: what they are, float32 for text.
  explicit ArrayPool(std::optional<DType> dtype) : dtype_(dtype) {}

  /// All arrays of a .npz, .safetensors or .json. Names that attention has no use for throw
  /// UsageError; results that --out writes are left alone, with a remark.
  void read_file(const std::string& path, std::vector<std::string>& remarks);
  /// A file of one array, under a name.
  void read_single(const char* name, const std::string& path);
  /// What an option of kind FILE|NUMBERS holds. Throws UsageError when the name is taken.
  void add(const char* name, const std::optional<std::string>& text, const char* option);
  /// What an option of kind N[,N..] holds. Throws likewise.
  void add_integers(const char* name, const std::optional<std::string>& text, const char* option);

  bool has(const char* name) const { return arrays_.contains(name); }
  const std::string& source(const char* name) const { return arrays_.at(name).from; }
  /// Throws UsageError when the name is taken: `option` would give the same.
  void forbid(const char* name, const std::string& option) const;

  /// Views as the roles need them; absent where the array is. `values` throws UsageError instead.
  View values(const char* name);
  View values_beside(const char* name, DType dtype);  ///< text as precise as arrays of that dtype
  View bias(const char* name);
  View bias_list(const char* name);
  View integer_list(const char* name);
  View mask(const char* name);
  /// (B,N) or, the same for every one of `batch` rows, (N) or (1,N).
  View integer_rows(const char* name, std::int64_t batch);

  View keep(Tensor array);
  std::vector<Tensor> take_memory() { return std::move(memory_); }

 private:
  std::optional<DType> dtype_;
  std::map<std::string, SourcedArray> arrays_;
  std::vector<Tensor> memory_;
};

}  // namespace volvelle::cli
