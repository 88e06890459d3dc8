// `volvelle attend` with positions: rotary, other schemes by name, relative vectors, from the
// command line and from files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "support/attend_document.h"
#include "volvelle/attention/alibi.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;
using Matrix = std::vector<std::vector<double>>;
using Arguments = std::vector<std::string>;
using ::testing::HasSubstr;

const Matrix kQ{{1, 0, 0.5, -1}, {0.25, 1, -0.5, 2}, {-1, 0.75, 1, 0.5}};
const Matrix kK{{0, 1, 1, 0.5}, {1, -0.5, 0.25, 1}, {0.5, 2, -1, 0}};
const Matrix kV{{1, 2}, {3, 4}, {-1, 0.5}};

std::string typed(const Matrix& matrix) {
  std::string text;
  for (const auto& row : matrix) {
    for (const double value : row) text += std::to_string(value) + ' ';
    text += "; ";
  }
  return text.substr(0, text.size() - 2);
}

Arguments with(Arguments more) {
  Arguments all{"--q", typed(kQ), "--k", typed(kK), "--v", typed(kV), "--steps"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The formula: pair n of r columns turns by position * base^(-2n/r).
Matrix turned(Matrix rows, const std::vector<double>& positions, double base, int columns,
              bool interleaved) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (int n = 0; n < columns / 2; ++n) {
      const double angle = positions[i] * std::pow(base, -2.0 * n / columns);
      const std::size_t a = static_cast<std::size_t>(interleaved ? 2 * n : n);
      const std::size_t b = static_cast<std::size_t>(interleaved ? 2 * n + 1 : n + columns / 2);
      const double x = rows[i][a], y = rows[i][b];
      rows[i][a] = x * std::cos(angle) - y * std::sin(angle);
      rows[i][b] = x * std::sin(angle) + y * std::cos(angle);
    }
  }
  return rows;
}

Matrix products(const Matrix& a, const Matrix& b) {
  Matrix result(a.size(), std::vector<double>(b.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      for (std::size_t d = 0; d < a[i].size(); ++d) result[i][j] += a[i][d] * b[j][d];
    }
  }
  return result;
}

// softmax(scores / 2) V
Matrix attended(const Matrix& scores) {
  Matrix result(scores.size(), std::vector<double>(2));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < scores[i].size(); ++j) sum += std::exp(scores[i][j] / 2);
    for (std::size_t j = 0; j < scores[i].size(); ++j) {
      for (std::size_t e = 0; e < 2; ++e) {
        result[i][e] += std::exp(scores[i][j] / 2) / sum * kV[j][e];
      }
    }
  }
  return result;
}

void expect_near(const Json& actual, const Matrix& expected, const std::string& where) {
  ASSERT_EQ(actual.size(), expected.size()) << where;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].size(), expected[i].size()) << where;
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      EXPECT_NEAR(actual[i][j].get<double>(), expected[i][j], 2e-6) << where;
    }
  }
}

void expect_refused(const Arguments& more, const std::string& says) {
  Arguments arguments = with(more);
  arguments.insert(arguments.begin(), "attend");
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(says));
}

const std::vector<Arguments> kPaths{
    {"--path", "oracle"}, {"--path", "composed"}, {"--path", "fused"}, {"--dtype", "float64"}};

TEST(AttendPositions, RotaryTurnsAsTheFormulaSays) {
  const std::vector<double> places{3, 5, 9};
  for (const Arguments& path : kPaths) {
    for (const bool interleaved : {false, true}) {
      for (const int columns : {4, 2}) {
        Arguments options{"--rotary",    interleaved ? "interleaved" : "split-half",
                          "--base",      "100",
                          "--partial",   std::to_string(columns),
                          "--positions", "3,5,9"};
        options.insert(options.end(), path.begin(), path.end());
        const Json got = attend_json(with(options));
        const Matrix q = turned(kQ, places, 100, columns, interleaved);
        const Matrix k = turned(kK, places, 100, columns, interleaved);
        const std::string where = path.back() + (interleaved ? " interleaved" : " split-half");
        expect_near(got["turned_q"], q, where);
        expect_near(got["turned_k"], k, where);
        expect_near(got["scores"], products(q, k), where);
        expect_near(got["output"], attended(products(q, k)), where);
        EXPECT_THAT(got["positions"].get<std::string>(), HasSubstr("rotary(pairing="));
      }
    }
  }
}

TEST(AttendPositions, KeysMayStandElsewhereOrBeTurnedBefore) {
  const Matrix q = turned(kQ, {7, 8, 9}, 10000, 4, false);
  const Matrix k = turned(kK, {0, 4, 9}, 10000, 4, false);
  const Json apart = attend_json(
      with({"--rotary", "split-half", "--positions", "7,8,9", "--key-positions", "0,4,9"}));
  expect_near(apart["scores"], products(q, k), "apart");
  const Json before =
      attend_json(with({"--rotary", "split-half", "--positions", "7,8,9", "--turned-keys"}));
  expect_near(before["scores"], products(q, kK), "turned before");
  expect_near(before["turned_k"], kK, "as they are");
}

TEST(AttendPositions, ScalingsAreThoseOfTheSchemes) {
  const Json linear = attend_json(with({"--rotary", "split-half", "--positions", "8,12,20",
                                        "--scaling", "linear", "--factor", "4"}));
  const Matrix q = turned(kQ, {2, 3, 5}, 10000, 4, false);
  expect_near(linear["turned_q"], q, "linear");
  const Json text =
      attend_json(with({"--scheme", "rotary(scaling=linear, factor=4)", "--positions", "8,12,20"}));
  EXPECT_EQ(text["output"], linear["output"]);
}

TEST(AttendPositions, FilesHoldPositionsAndTables) {
  const ScratchFolder folder;
  const auto rows = [](const Matrix& matrix) {
    Tensor array(DType::float32, Shape{static_cast<std::int64_t>(matrix.size()),
                                       static_cast<std::int64_t>(matrix[0].size())});
    float* to = array.data<float>();
    for (const auto& row : matrix) {
      for (const double value : row) *to++ = static_cast<float>(value);
    }
    return array;
  };
  Matrix cosines, sines;
  for (int p = 0; p < 10; ++p) {
    cosines.push_back({std::cos(p), std::cos(p * 0.01)});
    sines.push_back({std::sin(p), std::sin(p * 0.01)});
  }
  Tensor positions(DType::int32, Shape{3});
  const std::int32_t places[] = {3, 5, 9};
  std::copy(std::begin(places), std::end(places), positions.data<std::int32_t>());
  const std::string path = folder / "turn.npz";
  write_arrays(path,
               {{"q", rows(kQ)},
                {"k", rows(kK)},
                {"v", rows(kV)},
                {"positions", positions},
                {"rotary_cosines", rows(cosines)},
                {"rotary_sines", rows(sines)}},
               {});
  const Json by_table = attend_json({path, "--rotary", "interleaved", "--steps"});
  expect_near(by_table["turned_q"], turned(kQ, {3, 5, 9}, 10000, 4, true), "tables");
  EXPECT_THAT(by_table["positions"].get<std::string>(), HasSubstr("by tables"));
  const CapturedRun no_pairing = captured_run({"attend", path});
  EXPECT_EQ(no_pairing.exit_code, 2);
  EXPECT_THAT(no_pairing.err, HasSubstr("how columns pair"));
  const CapturedRun twice =
      captured_run({"attend", path, "--rotary", "interleaved", "--base", "9"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("leave those out"));
}

TEST(AttendPositions, RelativeVectorsStandBesideKeysAndValues) {
  // Offsets -1, 0, 1; further ones share the ends.
  const Matrix keys{{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 0, 0}}, values{{1, 0}, {0, 0}, {0, 5}};
  Matrix scores = products(kQ, kK);
  Matrix expected(3, std::vector<double>(2));
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    const auto entry = [&](int j) {
      return static_cast<std::size_t>(std::clamp(j - i, -1, 1) + 1);
    };
    for (int j = 0; j < 3; ++j) {
      for (std::size_t d = 0; d < 4; ++d) scores[i][j] += kQ[i][d] * keys[entry(j)][d];
      sum += std::exp(scores[i][j] / 2);
    }
    for (int j = 0; j < 3; ++j) {
      for (std::size_t e = 0; e < 2; ++e) {
        expected[i][e] += std::exp(scores[i][j] / 2) / sum * (kV[j][e] + values[entry(j)][e]);
      }
    }
  }
  for (const Arguments& path : kPaths) {
    if (path.back() == "fused") continue;  // relative values take the composed path
    Arguments options{"--relative-keys", typed(keys), "--relative-values", typed(values)};
    options.insert(options.end(), path.begin(), path.end());
    const Json got = attend_json(with(options));
    expect_near(got["scores"], scores, path.back());
    expect_near(got["output"], expected, path.back());
  }
}

TEST(AttendPositions, SchemesByNameAreTheOlderOptions) {
  EXPECT_EQ(attend_json(with({"--scheme", "alibi"}))["output"],
            attend_json(with({"--alibi"}))["output"]);
  EXPECT_EQ(attend_json(with({"--scheme", "none"}))["output"], attend_json(with({}))["output"]);
}

TEST(AttendPositions, SinusoidsAreAddedToTokensBeforeTheProjections) {
  const Arguments projected{"--x",       "1 0 0 0; 0 1 0 0",
                            "--wq",      "1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1",
                            "--wk",      "1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1",
                            "--wv",      "1 0; 0 1; 0 0; 0 0",
                            "--steps",   "--scheme",
                            "sinusoidal"};
  const Json got = attend_json(projected);
  // Rows 0 and 1 of the table are 0 1 0 1 and sin 1, cos 1, sin 0.01, cos 0.01.
  const Matrix tokens{{1, 1, 0, 1}, {std::sin(1), 1 + std::cos(1), std::sin(0.01), std::cos(0.01)}};
  expect_near(got["scores"], products(tokens, tokens), "sinusoidal");
}

TEST(AttendPositions, LearnedVectorsComeFromTheirTable) {
  const Arguments projected{"attend",  "--x",      "1 0; 0 1",       "--wq",     "1 0; 0 1",
                            "--wk",    "1 0; 0 1", "--wv",           "1 0; 0 1", "--json",
                            "--steps", "--scheme", "learned(rows=3)"};
  const CapturedRun without = captured_run(projected);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--position-table"));
  Arguments given = projected;
  given.insert(given.end(), {"--position-table", "0 0; 0 0; 10 20", "--positions", "2,0"});
  const Json got = Json::parse(captured_run(given).out);
  expect_near(got["scores"], {{11 * 11 + 20 * 20, 20}, {20, 1}}, "learned");
  Arguments beyond = projected;
  beyond.insert(beyond.end(), {"--position-table", "0 0; 0 0; 10 20", "--positions", "3,0"});
  const CapturedRun refused = captured_run(beyond);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("3"));
}

// (T,H,D) in memory: positions go along with tokens, not with heads.
TEST(AttendPositions, OtherMemoryOrdersTurnTheSame) {
  const ScratchFolder folder;
  Tensor heads(DType::float32, Shape{2, 3, 4}), tokens(DType::float32, Shape{3, 2, 4});
  for (int h = 0; h < 2; ++h) {
    for (int t = 0; t < 3; ++t) {
      for (int d = 0; d < 4; ++d) {
        const float value = static_cast<float>(std::sin(1 + 12 * h + 4 * t + d));
        heads.data<float>()[(h * 3 + t) * 4 + d] = value;
        tokens.data<float>()[(t * 2 + h) * 4 + d] = value;
      }
    }
  }
  write_arrays(folder / "hts.npz", {{"q", heads}, {"k", heads}, {"v", heads}}, {});
  write_arrays(folder / "ths.npz", {{"q", tokens}, {"k", tokens}, {"v", tokens}}, {});
  const Json by_heads = attend_json({folder / "hts.npz", "--rotary", "split-half"});
  const Json by_tokens =
      attend_json({folder / "ths.npz", "--rotary", "split-half", "--layout", "bthd"});
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(by_heads["output"][h][t], by_tokens["output"][t][h]);
    }
  }
}

TEST(AttendPositions, StepsShowTheTurn) {
  Arguments arguments = with({"--rotary", "split-half", "--positions", "3,5,9"});
  arguments.insert(arguments.begin(), "attend");
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Turned: queries and keys by the angles of their positions"));
  EXPECT_THAT(run.out, HasSubstr("query 0 at 3"));
  EXPECT_THAT(run.out, HasSubstr("(0,2)"));
  EXPECT_THAT(run.out, HasSubstr("turned K"));
  EXPECT_THAT(run.out, HasSubstr("oracle: yes, largest"));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(AttendPositions, ExplainSaysTheScheme) {
  const CapturedRun run = captured_run({"attend", "--explain", "--rotary", "interleaved"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("positions     rotary(pairing=interleaved)"));
}

// The gradient of the loss by a number, by central differences of the program itself.
TEST(AttendPositions, BackwardGoesThroughTurnsAndRelativeVectors) {
  const Matrix back{{1, 0}, {0.5, -1}, {0.25, 2}};
  const Matrix keys{{1, 0, 0.5, 0}, {0, 0.25, 0, 0}, {0, 2, 0, -1}};
  const auto run = [&](const Matrix& q, const Matrix& k, const Matrix& r) {
    return attend_json({"--q", typed(q), "--k", typed(k), "--v", typed(kV), "--dtype", "float64",
                        "--rotary", "interleaved", "--positions", "3,5,9", "--relative-keys",
                        typed(r), "--backward", "--grad-output", typed(back)});
  };
  const auto loss = [&](const Matrix& q, const Matrix& k, const Matrix& r) {
    const Json output = run(q, k, r)["output"];
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t e = 0; e < 2; ++e) sum += back[i][e] * output[i][e].get<double>();
    }
    return sum;
  };
  const Json got = run(kQ, kK, keys);
  const auto moved = [](Matrix matrix, double by) {
    matrix[1][2] += by;
    return matrix;
  };
  const double h = 1e-3;
  EXPECT_NEAR(got["grad_q"][1][2].get<double>(),
              (loss(moved(kQ, h), kK, keys) - loss(moved(kQ, -h), kK, keys)) / (2 * h), 1e-6);
  EXPECT_NEAR(got["grad_k"][1][2].get<double>(),
              (loss(kQ, moved(kK, h), keys) - loss(kQ, moved(kK, -h), keys)) / (2 * h), 1e-6);
  EXPECT_NEAR(got["grad_relative_keys"][1][2].get<double>(),
              (loss(kQ, kK, moved(keys, h)) - loss(kQ, kK, moved(keys, -h))) / (2 * h), 1e-6);
}

// Vectors of each head's own go along when a fault is looked for in one head.
TEST(AttendPositions, FaultsAreFoundBesideRelativeVectors) {
  const ScratchFolder folder;
  const auto waves = [](const Shape& shape, double step) {
    Tensor array(DType::float32, shape);
    for (std::int64_t i = 0; i < array.size(); ++i) {
      array.data<float>()[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    }
    return array;
  };
  write_arrays(folder / "problem.npz",
               {{"q", waves({2, 7, 4}, 0.7)},
                {"k", waves({2, 7, 4}, 1.1)},
                {"v", waves({2, 7, 4}, 1.9)},
                {"relative_keys", waves({2, 5, 4}, 2.3)},
                {"relative_values", waves({2, 5, 4}, 0.3)}},
               {});
  ASSERT_EQ(captured_run(
                {"attend", folder / "problem.npz", "--scale", "1", "--out", folder / "theirs.npz"})
                .exit_code,
            0);
  const Json got = attend_json({folder / "problem.npz", "--expect", folder / "theirs.npz"}, 3);
  std::string faults;
  for (const Json& one : got["expect"]["diagnosis"])
    faults += one["fault"].get<std::string>() + ' ';
  EXPECT_THAT(faults, HasSubstr("scale_absent"));
}

TEST(AttendPositions, GradientsOfRelativeVectorsAreCompared) {
  const ScratchFolder folder;
  const Arguments problem = with({"--relative-keys", "1 0 0 0; 0 0 0 0; 0 2 0 0", "--backward",
                                  "--grad-output", "1 0; 0 1; 1 1"});
  const auto run = [&](Arguments more) {
    Arguments arguments = problem;
    arguments.insert(arguments.begin(), "attend");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return captured_run(arguments);
  };
  ASSERT_EQ(run({"--out", folder / "ours.npz"}).exit_code, 0);
  const CapturedRun equal = run({"--expect", folder / "ours.npz"});
  EXPECT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_THAT(equal.out, HasSubstr("grad_relative_keys"));
  NamedArrays arrays = read_arrays(folder / "ours.npz");
  for (NamedArray& one : arrays) {
    if (one.name == "grad_relative_keys") one.array.data<float>()[1] += 0.01F;
  }
  write_arrays(folder / "theirs.npz", arrays, {});
  const CapturedRun different = run({"--expect", folder / "theirs.npz"});
  EXPECT_EQ(different.exit_code, 3);
  EXPECT_THAT(different.out, HasSubstr("grad_relative_keys: 1 of 12 elements differ"));
}

TEST(AttendPositions, BadInputIsToldByName) {
  expect_refused({"--rotary", "split-half", "--partial", "3"}, "even number");
  expect_refused({"--rotary", "split-half", "--partial", "6"}, "6");
  expect_refused({"--rotary", "split-half", "--scaling", "llama3"}, "factor");
  expect_refused({"--rotary", "split-half", "--factor", "4"}, "factor");
  expect_refused({"--rotary", "split-half", "--scaling", "longrope", "--original", "8", "--max",
                  "32", "--short", "1,2,3", "--long", "1,2,3"},
                 "short");
  expect_refused({"--rotary", "sideways"}, "split-half|interleaved");
  expect_refused({"--base", "500"}, "--rotary split-half");
  expect_refused({"--rotary", "split-half", "--positions", "0,1"}, "positions");
  expect_refused({"--rotary", "split-half", "--positions", "0,1,-2"}, "-2");
  expect_refused({"--rotary", "split-half", "--positions", "0,1,1.5"}, "whole number");
  expect_refused({"--scheme", "alibii"}, "did you mean 'alibi'");
  expect_refused({"--scheme", "rotary(bose=3)"}, "did you mean 'base'");
  expect_refused({"--scheme", "rotary", "--rotary", "split-half"}, "both choose a scheme");
  expect_refused({"--scheme", "alibi", "--alibi"}, "both choose a scheme");
  expect_refused({"--scheme", "sinusoidal"}, "--x");
  expect_refused({"--scheme", "clamped(max=1)"}, "bias_table");
  expect_refused({"--turned-keys"}, "--rotary");
  expect_refused({"--position-table", "1 2"}, "--scheme learned");
  expect_refused({"--relative-keys", "1 2; 3 4"}, "relative_keys");
  expect_refused({"--scheme", "relative(max=1)"}, "'relative_keys'");
  expect_refused({"--scheme", "relative(max=1)", "--relative-keys", "1 2 3 4"}, "(3,4)");
}

// Positions that no table reaches and no sum of an index and an offset holds.
TEST(AttendPositions, PositionsBeyondAllLimitsAreToldByName) {
  const std::string largest = "9223372036854775807";
  for (const std::string scheme :
       {"rotary", "xpos", "rotary(scaling=dynamic, factor=2, original=8)"}) {
    expect_refused({"--scheme", scheme, "--query-offset", largest}, "2^30");
    expect_refused({"--scheme", scheme, "--query-offset", "1099511627776"}, "2^30");
    expect_refused({"--scheme", scheme, "--positions", largest + ",0,1"}, largest);
    expect_refused({"--scheme", scheme, "--positions", "0,1,1073741824"}, "2^30");
    expect_refused({"--scheme", scheme, "--query-offset", "-9223372036854775808"}, "position");
  }
  expect_refused({"--rotary", "split-half", "--query-offset", largest}, "2^30");
  expect_refused({"--rotary", "split-half", "--positions", largest + ",0,1"}, largest);
  expect_refused({"--scheme", "alibi", "--query-offset", largest}, "2^30");
  expect_refused({"--scheme", "alibi", "--positions", largest + ",0,1"}, largest);
  // Without anything that reads positions, exclusion alone goes by the offset: all keys are seen.
  EXPECT_EQ(
      attend_json(with({"--scheme", "none", "--causal", "--query-offset", largest}))["output"],
      attend_json(with({}))["output"]);
  const CapturedRun tokens =
      captured_run({"attend", "--x", "1 0; 0 1", "--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv",
                    "1 0; 0 1", "--scheme", "sinusoidal(offset=2)", "--positions", largest + ",0"});
  EXPECT_EQ(tokens.exit_code, 2);
  EXPECT_THAT(tokens.err, HasSubstr(largest));
}

}  // namespace
}  // namespace volvelle::testing
