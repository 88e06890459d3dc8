// PyTorch's answers (tests/golden/make_attention.py) beside those of every path.
#include <filesystem>

#include "support/arrays.h"
#include "support/expect_routes.h"
#include "volvelle/attention/alibi.h"
#include "volvelle/attention/buckets.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

const std::string kFolder = VOLVELLE_SOURCE_DIR "/tests/golden/attention/";

class Golden {
 public:
  explicit Golden(const std::string& name) : arrays_(read_arrays(kFolder + name + ".npz")) {}

  View view(const char* name) const {
    const Tensor* array = find_array(arrays_, name);
    return array == nullptr ? View() : array->view();
  }
  bool has(const char* name) const { return find_array(arrays_, name) != nullptr; }
  double number(const char* name) const { return element_as_double(view(name), 0); }

  AttentionProblem problem() const {
    AttentionProblem p{.q = view("q"), .k = view("k"), .v = view("v")};
    p.bias = view("bias");
    p.keep = view("keep");
    p.slopes = view("slopes");
    p.sinks = view("sinks");
    p.bias_table = view("bias_table");
    p.bucket_table = view("bucket_table");
    p.key_lengths = view("key_lengths");
    p.query_offset = view("query_offset");
    p.causal = has("causal");
    if (has("top_left")) p.alignment = Alignment::top_left;
    if (has("scale")) p.scale = number("scale");
    if (has("softcap")) p.softcap = number("softcap");
    if (has("window")) p.window = static_cast<std::int64_t>(number("window"));
    if (has("two_way")) {
      p.buckets = number("two_way") != 0 ? Buckets::two_way : Buckets::one_way;
      p.max_distance = static_cast<std::int64_t>(number("max_distance"));
    }
    return p;
  }

  Answer answer_of(const AttentionProblem& p) const {
    const DType dtype = p.q.dtype();
    const DType statistic = dtype == DType::float64 ? DType::float64 : DType::float32;
    Answer right;
    right.output = converted(view("output"), dtype);
    right.lse = converted(view("lse"), statistic);
    right.entropy = converted(view("entropy"), statistic);
    right.column_sums = converted(view("column_sums"), statistic);
    return right;
  }

 private:
  NamedArrays arrays_;
};

void expect_golden(const std::string& name, const AttentionProblem& p, const Answer& right) {
  EXPECT_EQ(difference(p, oracle_answer(p), right), "") << name << ": oracle";
  for (const Route& route : routes()) {
    EXPECT_EQ(difference(p, answer(p, route), right), "") << name << ": " << route.name;
  }
}

TEST(Golden, EveryPathGivesPyTorchsAnswer) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() != ".npz" || name == "bucket_runs" || name == "bfloat") continue;
    const Golden golden(name);
    const AttentionProblem p = golden.problem();
    expect_golden(name, p, golden.answer_of(p));
    ++files;
  }
  EXPECT_EQ(files, 16);
}

TEST(Golden, BFloat16GivesPyTorchsAnswer) {
  const Golden golden("bfloat");  // stored as float32, which holds each exactly
  const Tensor q = converted(golden.view("q"), DType::bfloat16);
  const Tensor k = converted(golden.view("k"), DType::bfloat16);
  const Tensor v = converted(golden.view("v"), DType::bfloat16);
  const AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view()};
  expect_golden("bfloat", p, golden.answer_of(p));
}

// The control: an answer to another problem is not taken.
TEST(Golden, ControlAnotherWindowDiffers) {
  const Golden golden("alibi_window");
  AttentionProblem p = golden.problem();
  const Answer right = golden.answer_of(p);
  p.window += 1;
  EXPECT_NE(difference(p, oracle_answer(p), right), "");
  for (const Route& route : routes()) EXPECT_NE(difference(p, answer(p, route), right), "");
}

TEST(Golden, SlopesAreThoseOfTheAuthorsFunction) {
  const Golden golden("alibi_window");
  const std::vector<double> theirs = values_of(golden.view("slopes"));
  const std::vector<double> ours = alibi_slopes(6);
  for (std::size_t h = 0; h < 6; ++h) EXPECT_NEAR(ours[h], theirs[h], 1e-7 * theirs[h]);
}

// Runs are stored as (first distance, bucket) pairs, up to 100,000.
TEST(Golden, BucketsOfEveryDistanceAreTheReferences) {
  const NamedArrays runs = read_arrays(kFolder + "bucket_runs.npz");
  EXPECT_EQ(runs.size(), 24u);
  for (const NamedArray& run : runs) {
    const std::string& name = run.name;  // two_32_128_ahead
    const Buckets kind = name.starts_with("two") ? Buckets::two_way : Buckets::one_way;
    const std::int64_t count = std::stoll(name.substr(4));
    const std::int64_t max_distance = std::stoll(name.substr(name.find('_', 4) + 1));
    const std::int64_t sign = name.ends_with("ahead") ? 1 : -1;
    const std::int64_t lengths = run.array.shape()[1];
    const auto* starts = run.array.data<std::int64_t>();
    std::int64_t at = 0;
    for (std::int64_t distance = 0; distance <= 100000; ++distance) {
      if (at + 1 < lengths && starts[at + 1] == distance) ++at;
      ASSERT_EQ(bucket_of(sign * distance, kind, count, max_distance), starts[lengths + at])
          << name << " distance " << distance;
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
