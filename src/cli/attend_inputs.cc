#include "cli/attend_inputs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/array_pool.h"
#include "cli/array_roles.h"
#include "cli/position_inputs.h"
#include "cli/projection.h"
#include "cli/view_axes.h"
#include "volvelle/attention/alibi.h"
#include "volvelle/io/arrays.h"

namespace volvelle::cli {
namespace {

/// Makes the problem, part by part, of the arrays and the options.
class Gatherer {
 public:
  explicit Gatherer(const AttendOptions& options)
      : options_(options),
        dtype_(options.dtype ? std::optional(dtype_named(*options.dtype)) : std::nullopt),
        pool_(dtype_),
        positions_(options.positions, pool_) {}

  AttendInputs gather();

 private:
  void read_arrays_given();
  void set_qkv();
  void set_packed();
  void set_projected();
  void set_biases();
  void check_bucket_table();
  void set_exclusion();
  void set_segments(std::int64_t batch);
  void set_grad_output();
  void remark_on_layout();

  const AttendOptions& options_;
  std::optional<DType> dtype_;
  ArrayPool pool_;
  PositionInputs positions_;
  AttendInputs result_;
};

std::string shape_of(const char* name, const View& view) {
  return std::string(name) + ' ' + to_string(view.shape());
}

void Gatherer::read_arrays_given() {
  if (options_.input) {
    const std::string& path = *options_.input;
    if (holds_named_arrays(path)) {
      pool_.read_file(path, result_.remarks);
    } else if (options_.layout == "bt3hd") {
      pool_.read_single("qkv", path);
    } else {
      throw UsageError("'" + path +
                       "' is no .npz, .safetensors or .json, which could hold q, k and v; "
                       "files of one array each go to --q, --k and --v, one array with all three "
                       "needs --layout bt3hd");
    }
  }
  pool_.add("q", options_.q, "--q");
  pool_.add("k", options_.k, "--k");
  pool_.add("v", options_.v, "--v");
  pool_.add("bias", options_.bias, "--bias");
  pool_.add("keep", options_.keep, "--keep");
  pool_.add("sinks", options_.sinks, "--sinks");
  pool_.add("segments", options_.segments, "--segments");
  pool_.add("grad_output", options_.grad_output, "--grad-output");
  pool_.add_integers("key_lengths", options_.key_lengths, "--key-lengths");
  pool_.add_integers("query_offset", options_.query_offset, "--query-offset");
  positions_.add_arrays();
}

void Gatherer::set_packed() {
  for (const char* name : {"q", "k", "v"}) {
    if (pool_.has(name)) {
      throw UsageError(
          "--layout bt3hd reads one array 'qkv' (B,T,3,H,D), so there is no place for " +
          pool_.source(name));
    }
  }
  if (!pool_.has("qkv")) {
    throw UsageError("--layout bt3hd reads one array 'qkv' (B,T,3,H,D); none was given");
  }
  const View packed = pool_.values("qkv");
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
  const SourcedArray x = array_of_option("--x", *options_.x);
  const Tensor tokens = as_values(x, dtype_);
  const std::int64_t heads = options_.heads.value_or(1);
  const std::int64_t key_heads = options_.key_heads.value_or(heads);
  const bool head_axis = options_.heads || options_.key_heads;
  const SourcedArray queries = array_of_option("--wq", *options_.wq);
  const int rank = queries.array.rank();
  const std::int64_t columns = rank > 0 ? queries.array.shape()[rank - 1] : 1;
  const Tensor placed = positions_.with_positions(
      tokens, {.width = tokens.rank() > 0 ? tokens.shape()[tokens.rank() - 1] : 1,
               .heads = heads,
               .head_width = std::max<std::int64_t>(columns / heads, 1),
               .key_heads = key_heads,
               .causal = options_.causal,
               .dtype = tokens.dtype() == DType::float64 ? DType::float64 : DType::float32});
  const auto one = [&](const char* name, const std::string& text, std::int64_t count) {
    const std::string option = std::string("--") + name;
    const SourcedArray weight = array_of_option(option, text);
    return pool_.keep(projected(placed, as_values(weight, dtype_), count, head_axis, name));
  };
  if (options_.backward) {
    result_.remarks.push_back("gradients are those of q, k and v, which --x and its weights make");
  }
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
    for (const char* name : {"q", "k", "v", "qkv"}) pool_.forbid(name, "--x");
    return set_projected();
  }
  if (options_.layout == "bt3hd") return set_packed();
  if (pool_.has("qkv")) {
    throw UsageError(pool_.source("qkv") + ": one array for all three needs --layout bt3hd");
  }
  problem.q = pool_.values("q");
  problem.k = pool_.values("k");
  problem.v = pool_.values("v");
  if (options_.layout != "bthd") return remark_on_layout();
  result_.layout = Layout::bthd;
  for (View* view : {&problem.q, &problem.k, &problem.v}) {
    if (view->rank() >= 3) *view = swapped(*view, view->rank() - 3, view->rank() - 2);
  }
}

void Gatherer::set_biases() {
  AttentionProblem& problem = result_.problem;
  problem.bias = pool_.bias("bias");
  problem.slopes = pool_.bias_list("slopes");
  problem.sinks = pool_.bias_list("sinks");
  problem.bias_table = pool_.bias("bias_table");
  problem.bucket_table = pool_.bias("bucket_table");
  const int rank = problem.q.rank();
  const std::int64_t heads = rank >= 3 ? problem.q.shape()[rank - 3] : 1;
  if (options_.alibi) {
    pool_.forbid("slopes", "--alibi");
    if (heads >= 1) {
      const std::vector<double> slopes = alibi_slopes(static_cast<int>(heads));
      Tensor array(DType::float64, Shape{heads});
      std::copy(slopes.begin(), slopes.end(), array.data<double>());
      problem.slopes = pool_.keep(std::move(array));
    }
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

// Options or a scheme say how offsets are sorted into its buckets.
void Gatherer::check_bucket_table() {
  const AttentionProblem& problem = result_.problem;
  if (!problem.bucket_table || problem.buckets != Buckets::none) return;
  const std::string& from = pool_.source("bucket_table");
  if (options_.positions.scheme) {
    throw UsageError("--scheme " + *options_.positions.scheme + " does not read " + from +
                     "; --scheme t5 does");
  }
  throw UsageError(from +
                   " needs --buckets one-way or two-way: the table does not say which it is");
}

void Gatherer::set_exclusion() {
  AttentionProblem& problem = result_.problem;
  const int rank = problem.q.rank();
  const std::int64_t batch = rank == 4 ? problem.q.shape()[0] : 1;
  problem.causal = options_.causal;
  if (options_.align == "top-left") problem.alignment = Alignment::top_left;
  problem.query_offset = pool_.integer_list("query_offset");
  if (options_.align && pool_.has("query_offset")) {
    throw UsageError("--align and " + pool_.source("query_offset") +
                     " both say where the queries stand; leave one out");
  }
  problem.window = options_.window.value_or(0);
  problem.window_right = options_.window_right.value_or(0);
  problem.prefix = options_.prefix.value_or(0);
  problem.chunk = options_.chunk.value_or(0);
  problem.key_lengths = pool_.integer_list("key_lengths");
  if (options_.padding && !problem.key_lengths) {
    throw UsageError("--padding says where padding lies; it needs --key-lengths (or key_lengths)");
  }
  if (options_.padding == "left") problem.padding = Padding::left;
  set_segments(batch);
  problem.keep = pool_.mask("keep");
}

void Gatherer::set_segments(std::int64_t batch) {
  AttentionProblem& problem = result_.problem;
  problem.query_segments = pool_.integer_rows("query_segments", batch);
  problem.key_segments = pool_.integer_rows("key_segments", batch);
  const View segments = pool_.integer_rows("segments", batch);
  if (!segments) return;
  for (const char* name : {"query_segments", "key_segments"}) {
    pool_.forbid(name, pool_.source("segments"));
  }
  const int rank = problem.q.rank();
  const int key_rank = problem.k.rank();
  const std::int64_t queries = rank >= 2 ? problem.q.shape()[rank - 2] : 0;
  const std::int64_t keys = key_rank >= 2 ? problem.k.shape()[key_rank - 2] : 0;
  if (queries != keys) {
    throw UsageError(pool_.source("segments") + " serves queries and keys, but there are T=" +
                     std::to_string(queries) + " and S=" + std::to_string(keys) +
                     "; give query_segments and key_segments in INPUT");
  }
  problem.query_segments = problem.key_segments = segments;
}

// It comes in the shape of the output: that is told here, before anything is computed.
void Gatherer::set_grad_output() {
  if (!options_.backward) {
    if (!pool_.has("grad_output")) return;
    throw UsageError(pool_.source("grad_output") + " is what --backward goes by; give that too");
  }
  if (!pool_.has("grad_output")) {
    throw UsageError(
        "--backward needs what comes back to the output: --grad-output, or 'grad_output' in INPUT");
  }
  const AttentionProblem& problem = result_.problem;
  View given = pool_.values_beside("grad_output", problem.q.dtype());
  const int rank = problem.q.rank();
  if (rank < 2 || problem.v.rank() < 2) return;  // attention itself says what is wrong with them
  Shape shape = problem.q.shape();
  shape[rank - 1] = problem.v.shape()[problem.v.rank() - 1];
  if (result_.layout == Layout::bthd && rank >= 3) std::swap(shape[rank - 3], shape[rank - 2]);
  if (given.shape() != shape) {
    throw UsageError(pool_.source("grad_output") + " has the shape " + to_string(given.shape()) +
                     "; the output's is " + to_string(shape));
  }
  if (result_.layout == Layout::bthd && rank >= 3) given = swapped(given, rank - 3, rank - 2);
  result_.grad_output = given;
}

AttendInputs Gatherer::gather() {
  read_arrays_given();
  result_.source = options_.input ? *options_.input : "the arrays given";
  if (options_.input || options_.inline_arrays()) {
    set_qkv();
  } else {
    if (options_.layout)
      throw UsageError("--layout is about arrays; the embedded example has none");
    AttendInputs example = embedded_example(dtype_.value_or(DType::float32));
    result_.problem = example.problem;
    for (Tensor& array : example.owned) pool_.keep(std::move(array));
    result_.source = example.source;
  }
  set_biases();
  set_exclusion();
  positions_.enter(result_.problem);
  check_bucket_table();
  result_.positions = positions_.words();
  result_.problem.scale = options_.scale;
  result_.problem.softcap = options_.softcap.value_or(0);
  result_.problem.dropout = options_.dropout.value_or(0);
  result_.problem.dropout_seed = static_cast<std::uint64_t>(options_.seed.value_or(0));
  set_grad_output();
  result_.owned = pool_.take_memory();
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
