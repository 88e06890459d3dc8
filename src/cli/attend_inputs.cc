#include "cli/attend_inputs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "cli/array_roles.h"
#include "cli/projection.h"
#include "cli/suggest.h"
#include "cli/view_axes.h"
#include "volvelle/attention/alibi.h"
#include "volvelle/io/arrays.h"

namespace volvelle::cli {
namespace {

// What INPUT may hold besides q, k, v (or qkv).
constexpr std::array kNames{"q",
                            "k",
                            "v",
                            "qkv",
                            "bias",
                            "keep",
                            "slopes",
                            "sinks",
                            "bias_table",
                            "bucket_table",
                            "key_lengths",
                            "segments",
                            "query_segments",
                            "key_segments",
                            "query_offset",
                            "query_positions",
                            "key_positions"};
// What --out writes: it may lie in INPUT, and is nothing to read.
constexpr std::array kResults{"output", "lse",    "entropy",          "column_sums", "weights",
                              "scores", "scaled", "weights_unscaled", "row_sums"};

/// Collects the arrays by name, from INPUT and from options, each at most once.
class Gatherer {
 public:
  explicit Gatherer(const AttendOptions& options) : options_(options) {
    if (options.dtype) dtype_ = dtype_named(*options.dtype);
  }

  AttendInputs gather();

 private:
  DType text_dtype() const { return dtype_.value_or(DType::float32); }
  void read_input();
  void add_option(const char* name, const std::optional<std::string>& text, const char* option);
  bool has(const char* name) const { return arrays_.contains(name); }
  void forbid(const char* name, bool given, const char* option) const;
  View keep_alive(Tensor array);
  View values(const char* name);
  View integers(const char* name);
  View list(const char* name);
  View rows(const char* name, std::int64_t batch);
  void set_qkv();
  void set_packed();
  void set_projected();
  void set_biases();
  void set_exclusion();
  void remark_on_layout();

  const AttendOptions& options_;
  std::optional<DType> dtype_;
  std::map<std::string, SourcedArray> arrays_;
  AttendInputs result_;
};

std::string shape_of(const char* name, const View& view) {
  return std::string(name) + ' ' + to_string(view.shape());
}

void Gatherer::read_input() {
  const std::string& path = *options_.input;
  const ReadOptions reading{.number_dtype = text_dtype()};
  if (!holds_named_arrays(path)) {
    if (options_.layout != "bt3hd") {
      throw UsageError(path +
                       " is no .npz, .safetensors or .json, which could hold q, k and v; "
                       "files of one array each go to --q, --k and --v, one array with all three "
                       "needs --layout bt3hd");
    }
    arrays_["qkv"] = {read_array(path, reading), path, !is_binary_file(path)};
    return;
  }
  const std::vector<std::string> known(kNames.begin(), kNames.end());
  for (NamedArray& entry : read_arrays(path, reading)) {
    if (std::find(kNames.begin(), kNames.end(), entry.name) != kNames.end()) {
      arrays_[entry.name] = {entry.array, entry.name + " in " + path, !is_binary_file(path)};
    } else if (std::find(kResults.begin(), kResults.end(), entry.name) != kResults.end()) {
      result_.remarks.push_back("'" + entry.name + "' in " + path +
                                " is a result and is not read; --expect compares with it");
    } else {
      throw UsageError(path + " holds '" + entry.name + "', which attention has no use for" +
                       suggestion(entry.name, known));
    }
  }
}

void Gatherer::add_option(const char* name, const std::optional<std::string>& text,
                          const char* option) {
  if (!text) return;
  forbid(name, true, option);
  arrays_[name] = array_of_option(option, *text, text_dtype());
}

void Gatherer::forbid(const char* name, bool given, const char* option) const {
  if (given && has(name)) {
    throw UsageError(arrays_.at(name).from + " and " + option +
                     " both give the same; leave one out");
  }
}

View Gatherer::keep_alive(Tensor array) {
  result_.owned.push_back(std::move(array));
  return result_.owned.back().view();
}

View Gatherer::values(const char* name) {
  if (!has(name)) {
    const std::string where = options_.input ? *options_.input + " has no" : "there is no";
    throw UsageError(where + " '" + name + "'; attention needs q, k and v");
  }
  return keep_alive(as_values(arrays_.at(name), dtype_));
}

View Gatherer::integers(const char* name) {
  return has(name) ? keep_alive(as_integers(arrays_.at(name))) : View();
}

View Gatherer::list(const char* name) {
  return has(name) ? keep_alive(as_list(as_integers(arrays_.at(name)))) : View();
}

// (B,S) or, the same for every batch row, (S).
View Gatherer::rows(const char* name, std::int64_t batch) {
  const View view = integers(name);
  if (!view) return view;
  if (view.rank() == 1) return repeated_rows(view, batch);
  if (view.rank() == 2 && view.shape()[0] == 1 && batch > 1) {
    return repeated_rows(picked(view, 0, 0), batch);
  }
  return view;
}

void Gatherer::set_packed() {
  for (const char* name : {"q", "k", "v"}) {
    if (has(name)) {
      throw UsageError(
          "--layout bt3hd reads one array 'qkv' (B,T,3,H,D), so there is no place for " +
          arrays_.at(name).from);
    }
  }
  if (!has("qkv")) {
    throw UsageError("--layout bt3hd reads one array 'qkv' (B,T,3,H,D); none was given");
  }
  const View packed = values("qkv");
  const int axis = packed.rank() - 3;
  if (axis < 1 || packed.rank() > 5 || packed.shape()[axis] != 3) {
    throw UsageError("--layout bt3hd takes (B,T,3,H,D) or (T,3,H,D), not " +
                     shape_of("qkv", packed));
  }
  AttentionProblem& problem = result_.problem;
  View* const parts[] = {&problem.q, &problem.k, &problem.v};
  for (int part = 0; part < 3; ++part) {
    const View one = picked(packed, axis, part);
    *parts[part] = swapped(one, one.rank() - 3, one.rank() - 2);
  }
  result_.layout = Layout::bthd;
}

void Gatherer::set_projected() {
  const SourcedArray x = array_of_option("--x", *options_.x, text_dtype());
  const Tensor tokens = as_values(x, dtype_);
  const std::int64_t heads = options_.heads.value_or(1);
  const std::int64_t key_heads = options_.key_heads.value_or(heads);
  const bool head_axis = options_.heads || options_.key_heads;
  const auto one = [&](const char* name, const std::string& text, std::int64_t count) {
    const std::string option = std::string("--") + name;
    const SourcedArray weight = array_of_option(option, text, text_dtype());
    return keep_alive(projected(tokens, as_values(weight, dtype_), count, head_axis, name));
  };
  result_.problem.q = one("wq", *options_.wq, heads);
  result_.problem.k = one("wk", *options_.wk, key_heads);
  result_.problem.v = one("wv", *options_.wv, key_heads);
}

// A reader cannot see from (2,16,16,64) which axis is the heads. Says so when the other reading
// fits as well and the usual order of sizes (fewer heads than tokens) does not speak for ours.
void Gatherer::remark_on_layout() {
  const View& q = result_.problem.q;
  const View& k = result_.problem.k;
  const View& v = result_.problem.v;
  const int rank = q.rank();
  if (options_.layout || !options_.input || rank < 3 || rank != k.rank() || rank != v.rank())
    return;
  const std::int64_t heads = q.shape()[rank - 3];
  const std::int64_t queries = q.shape()[rank - 2];
  const std::int64_t other_key_heads = k.shape()[rank - 2];
  const bool other_fits = other_key_heads > 0 && queries % other_key_heads == 0 &&
                          k.shape()[rank - 3] == v.shape()[rank - 3] &&
                          v.shape()[rank - 2] == other_key_heads;
  if (!other_fits || heads < queries || heads == 1) return;
  const std::string axis = std::to_string(rank - 3);
  result_.remarks.push_back(
      shape_of("q", q) + " fits two readings: bhtd, with " + std::to_string(heads) +
      " heads on axis " + axis + ", and bthd, with " + std::to_string(heads) +
      " queries on it; it is read as bhtd. --layout " + "says which and ends this remark");
}

void Gatherer::set_qkv() {
  AttentionProblem& problem = result_.problem;
  if (options_.projects()) {
    for (const char* name : {"q", "k", "v", "qkv"}) forbid(name, true, "--x");
    return set_projected();
  }
  if (options_.layout == "bt3hd") return set_packed();
  if (has("qkv")) {
    throw UsageError(arrays_.at("qkv").from + ": one array for all three needs --layout bt3hd");
  }
  problem.q = values("q");
  problem.k = values("k");
  problem.v = values("v");
  if (options_.layout != "bthd") return remark_on_layout();
  result_.layout = Layout::bthd;
  for (View* view : {&problem.q, &problem.k, &problem.v}) {
    if (view->rank() >= 3) *view = swapped(*view, view->rank() - 3, view->rank() - 2);
  }
}

void Gatherer::set_biases() {
  AttentionProblem& problem = result_.problem;
  const auto bias = [&](const char* name) {
    return has(name) ? keep_alive(as_bias(arrays_.at(name), text_dtype())) : View();
  };
  const auto bias_list = [&](const char* name) {
    return has(name) ? keep_alive(as_list(as_bias(arrays_.at(name), text_dtype()))) : View();
  };
  problem.bias = bias("bias");
  problem.slopes = bias_list("slopes");
  problem.sinks = bias_list("sinks");
  problem.bias_table = bias("bias_table");
  problem.bucket_table = bias("bucket_table");
  const int rank = problem.q.rank();
  const std::int64_t heads = rank >= 3 ? problem.q.shape()[rank - 3] : 1;
  if (options_.alibi) {
    forbid("slopes", true, "--alibi");
    if (heads >= 1) {
      const std::vector<double> slopes = alibi_slopes(static_cast<int>(heads));
      Tensor array(DType::float64, Shape{heads});
      std::copy(slopes.begin(), slopes.end(), array.data<double>());
      problem.slopes = keep_alive(std::move(array));
    }
  }
  if (problem.bucket_table && !options_.buckets) {
    throw UsageError(arrays_.at("bucket_table").from +
                     " needs --buckets one-way or two-way: the table does not say which it is");
  }
  if (!problem.bucket_table && (options_.buckets || options_.max_distance)) {
    throw UsageError(std::string(options_.buckets ? "--buckets" : "--max-distance") +
                     " is about bucket_table, which INPUT does not hold");
  }
  if (options_.buckets) {
    problem.buckets = *options_.buckets == "one-way" ? Buckets::one_way : Buckets::two_way;
  }
  if (options_.max_distance) problem.max_distance = *options_.max_distance;
}

void Gatherer::set_exclusion() {
  AttentionProblem& problem = result_.problem;
  const int rank = problem.q.rank();
  const std::int64_t batch = rank == 4 ? problem.q.shape()[0] : 1;
  problem.causal = options_.causal;
  if (options_.align == "top-left") problem.alignment = Alignment::top_left;
  problem.query_offset = list("query_offset");
  if (options_.align && has("query_offset")) {
    throw UsageError("--align and " + arrays_.at("query_offset").from +
                     " both say where the queries stand; leave one out");
  }
  problem.window = options_.window.value_or(0);
  problem.window_right = options_.window_right.value_or(0);
  problem.prefix = options_.prefix.value_or(0);
  problem.chunk = options_.chunk.value_or(0);
  problem.key_lengths = list("key_lengths");
  if (options_.padding && !problem.key_lengths) {
    throw UsageError("--padding says where padding lies; it needs --key-lengths (or key_lengths)");
  }
  if (options_.padding == "left") problem.padding = Padding::left;
  problem.query_positions = rows("query_positions", batch);
  problem.key_positions = rows("key_positions", batch);
  const View segments = rows("segments", batch);
  if (segments) {
    for (const char* name : {"query_segments", "key_segments"}) {
      forbid(name, true, arrays_.at("segments").from.c_str());
    }
    const int key_rank = problem.k.rank();
    const std::int64_t queries = rank >= 2 ? problem.q.shape()[rank - 2] : 0;
    const std::int64_t keys = key_rank >= 2 ? problem.k.shape()[key_rank - 2] : 0;
    if (queries != keys) {
      throw UsageError(arrays_.at("segments").from + " serves queries and keys, but there are T=" +
                       std::to_string(queries) + " and S=" + std::to_string(keys) +
                       "; give query_segments and key_segments in INPUT");
    }
    problem.query_segments = problem.key_segments = segments;
  } else {
    problem.query_segments = rows("query_segments", batch);
    problem.key_segments = rows("key_segments", batch);
  }
  if (has("keep")) problem.keep = keep_alive(as_mask(arrays_.at("keep")));
}

AttendInputs Gatherer::gather() {
  if (options_.input) read_input();
  result_.source = options_.input ? *options_.input : "the arrays given";
  add_option("q", options_.q, "--q");
  add_option("k", options_.k, "--k");
  add_option("v", options_.v, "--v");
  add_option("bias", options_.bias, "--bias");
  add_option("keep", options_.keep, "--keep");
  add_option("sinks", options_.sinks, "--sinks");
  add_option("segments", options_.segments, "--segments");
  for (const auto& [name, text, option] :
       {std::tuple{"key_lengths", &options_.key_lengths, "--key-lengths"},
        std::tuple{"query_offset", &options_.query_offset, "--query-offset"}}) {
    if (!*text) continue;
    forbid(name, true, option);
    const std::vector<std::int64_t> numbers = integers_of(option, **text);
    Tensor array(DType::int64, Shape{static_cast<std::int64_t>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), array.data<std::int64_t>());
    arrays_[name] = {array, option, true};
  }
  if (options_.input || options_.inline_arrays()) {
    set_qkv();
  } else {
    if (options_.layout)
      throw UsageError("--layout is about arrays; the embedded example has none");
    AttendInputs example = embedded_example(text_dtype());
    result_.problem = example.problem;
    result_.owned = example.owned;
    result_.source = example.source;
  }
  set_biases();
  set_exclusion();
  result_.problem.scale = options_.scale;
  result_.problem.softcap = options_.softcap.value_or(0);
  return std::move(result_);
}

}  // namespace

AttendInputs embedded_example(DType dtype) {
  static constexpr double kQ[] = {1, 0, 1, 1};
  static constexpr double kK[] = {1, 0, 0, 1};
  static constexpr double kV[] = {1, 2, 3, 4};
  AttendInputs inputs;
  inputs.source = "the embedded example";
  for (const double* matrix : {kQ, kK, kV}) {
    inputs.owned.push_back(converted(View(matrix, Shape{2, 2}), dtype));
  }
  inputs.problem.q = inputs.owned[0].view();
  inputs.problem.k = inputs.owned[1].view();
  inputs.problem.v = inputs.owned[2].view();
  return inputs;
}

AttendInputs gather(const AttendOptions& options) { return Gatherer(options).gather(); }

}  // namespace volvelle::cli
