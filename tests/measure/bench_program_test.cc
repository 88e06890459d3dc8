// `volvelle bench` as a reader types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/run_program.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

// The row of a benchmark of one shape; its document's machine is looked at as well.
nlohmann::json only_row(const std::string& arguments) {
  const auto run = testing::run_command("volvelle bench " + arguments +
                                        " --threads 1 --seconds 0.001 --json 2>/dev/null");
  EXPECT_EQ(run.exit_code, 0) << arguments;
  const auto document = nlohmann::json::parse(run.standard_output);
  EXPECT_GT(document["machine"]["peak_gflops_float32"].get<double>(), 0);
  EXPECT_GT(document["machine"]["peak_gflops_bfloat16"].get<double>(), 0);
  EXPECT_GT(document["machine"]["read_gbs"].get<double>(), 0);
  EXPECT_EQ(document["rows"].size(), 1u);
  return document["rows"][0];
}

TEST(BenchProgram, AloneListsTheBenchmarks) {
  const auto run = testing::run_command("volvelle bench");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.standard_output, HasSubstr("volvelle bench attention"));
}

TEST(BenchProgram, JsonHasTheMachineAndEveryKeyOfARow) {
  const auto row =
      only_row("attention --queries 24 --heads 2 --key-heads 1 --head-width 8 --causal");
  EXPECT_EQ(row["op"], "attention");
  EXPECT_EQ(row["dtype"], "float32");
  EXPECT_EQ(row["batch"], 1);
  EXPECT_EQ(row["heads"], 2);
  EXPECT_EQ(row["key_heads"], 1);
  EXPECT_EQ(row["queries"], 24);
  EXPECT_EQ(row["keys"], 24);
  EXPECT_EQ(row["head_width"], 8);
  EXPECT_EQ(row["causal"], true);
  EXPECT_EQ(row["window"], 0);
  EXPECT_EQ(row["threads"], 1);
  EXPECT_TRUE(row["simd"].is_string());
  for (const char* key : {"milliseconds", "gflops", "peak_gflops", "share_of_peak", "max_error"}) {
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
}

TEST(BenchProgram, JsonOfTheBackwardPassIsThatOfAttention) {
  const auto row = only_row("backward --queries 24 --heads 2 --head-width 8 --window 5");
  EXPECT_EQ(row["op"], "attention_backward");
  EXPECT_EQ(row["heads"], 2);
  EXPECT_EQ(row["queries"], 24);
  EXPECT_EQ(row["window"], 5);
  for (const char* key : {"milliseconds", "gflops", "peak_gflops", "share_of_peak", "max_error"}) {
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
  EXPECT_FALSE(row.contains("share_of_bandwidth"));
}

TEST(BenchProgram, JsonOfProductsHasTheBandwidthWhereWeightsAreCold) {
  const auto cached = only_row("matmul --m 5 --n 40 --k 24");
  EXPECT_EQ(cached["op"], "matmul");
  EXPECT_EQ(cached["dtype"], "float32");
  EXPECT_EQ(cached["m"], 5);
  EXPECT_EQ(cached["n"], 40);
  EXPECT_EQ(cached["k"], 24);
  EXPECT_EQ(cached["cold_weights"], false);
  EXPECT_GT(cached["share_of_peak"].get<double>(), 0);
  EXPECT_FALSE(cached.contains("share_of_bandwidth"));
  const auto cold = only_row("matmul --dtype bfloat16 --m 1 --n 40 --k 24 --cold --rotate 0.1");
  EXPECT_EQ(cold["cold_weights"], true);
  for (const char* key : {"share_of_peak", "gigabytes_per_second", "share_of_bandwidth"}) {
    EXPECT_GT(cold[key].get<double>(), 0) << key;
  }
}

TEST(BenchProgram, JsonOfDecodingHasTheBandwidth) {
  const auto row = only_row(
      "decode --heads 4 --key-heads 2 --keys 200 --head-width 8 --dtype bfloat16 --rotate 0.1");
  EXPECT_EQ(row["op"], "decode");
  EXPECT_EQ(row["dtype"], "bfloat16");
  EXPECT_EQ(row["heads"], 4);
  EXPECT_EQ(row["key_heads"], 2);
  EXPECT_EQ(row["queries"], 1);
  EXPECT_EQ(row["keys"], 200);
  EXPECT_EQ(row["head_width"], 8);
  for (const char* key : {"milliseconds", "gigabytes_per_second", "read_gbs", "share_of_bandwidth",
                          "cold_bytes", "max_error"}) {
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
}

TEST(BenchProgram, JsonOfPositionsHasTheRatio) {
  const auto row = only_row(
      "positions --work attention --scheme 't5(max=20)' --queries 24 --heads 2 --head-width 8 "
      "--causal");
  EXPECT_EQ(row["op"], "positions");
  EXPECT_EQ(row["work"], "attention");
  EXPECT_EQ(row["scheme"], "t5(max=20)");
  EXPECT_EQ(row["queries"], 24);
  EXPECT_EQ(row["causal"], true);
  for (const char* key : {"milliseconds", "ratio", "share_of_peak", "max_error"}) {
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
  const auto step = only_row(
      "positions --work step --scheme rotary --queries 1 --keys 30 --heads 2 "
      "--head-width 8 --causal");
  EXPECT_EQ(step["work"], "step");
  for (const char* key : {"ratio", "gigabytes_per_second", "share_of_bandwidth"}) {
    EXPECT_GT(step[key].get<double>(), 0) << key;
  }
}

TEST(BenchProgram, JsonOfTrainingHasTokensMemoryAndLosses) {
  const auto row = only_row("training --shape tiny --precision bfloat16");
  EXPECT_EQ(row["op"], "training");
  EXPECT_EQ(row["shape"], "tiny");
  EXPECT_EQ(row["precision"], "bfloat16");
  EXPECT_EQ(row["threads"], 1);
  EXPECT_EQ(row["first_losses"].size(), 3u);
  EXPECT_EQ(row["first_losses"][0], row["loss"]);
  for (const char* key :
       {"milliseconds", "tokens_per_second", "share_of_peak", "peak_bytes", "loss", "max_error"}) {
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
}

TEST(BenchProgram, TextFitsThePage) {
  for (const char* arguments :
       {"attention --dtype bfloat16 --batch 16 --heads 12 --key-heads 12 --queries 32 --keys 4096 "
        "--head-width 16 --causal --window 1000",
        "decode --dtype bfloat16 --heads 32 --key-heads 1 --keys 32768 --window 1000 --causal "
        "--rotate 1",
        "backward --dtype float16 --heads 12 --key-heads 3 --queries 8 --keys 1024 "
        "--head-width 16 --causal --window 1000",
        "matmul --dtype bfloat16 --m 1 --n 1024 --k 10240 --cold --rotate 1",
        "positions --work backward --scheme 'clamped(max=100)' --heads 12 --queries 8 --keys 1024 "
        "--causal --window 1000 --dtype bfloat16",
        "training --shape tiny"}) {
    const auto run = testing::run_command(std::string("volvelle bench ") + arguments +
                                          " --seconds 0.001 2>/dev/null");
    ASSERT_EQ(run.exit_code, 0) << arguments;
    for (std::size_t begin = 0; begin < run.standard_output.size();) {
      const std::size_t end = run.standard_output.find('\n', begin);
      EXPECT_LE(end - begin, 80u) << run.standard_output.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(BenchProgram, HelpOfEveryBenchmarkBeginsWithItsExamples) {
  for (const std::string name :
       {"attention", "backward", "decode", "matmul", "positions", "training"}) {
    const auto list = testing::run_command("volvelle bench");
    EXPECT_THAT(list.standard_output, HasSubstr("volvelle bench " + name));
    const auto help = testing::run_command("volvelle bench " + name + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.standard_output, HasSubstr("Examples\n  volvelle bench " + name));
  }
}

TEST(BenchProgram, AnInterruptPrintsWhatWasMeasured) {
  // Sent again each second, should the first come before the program listens.
  const auto run = testing::run_command(
      "volvelle bench attention --queries 16 --seconds 600 --threads 1 --json 2>/dev/null & "
      "for second in 1 2 3 4 5; do sleep 1; kill -INT $! 2>/dev/null || break; done; wait $!");
  EXPECT_EQ(run.exit_code, 130);
  const auto document = nlohmann::json::parse(run.standard_output);
  EXPECT_LE(document["rows"].size(), 1u);
}

TEST(BenchProgram, WrongUsageExitsWithTwo) {
  for (const char* arguments : {"nothing",
                                "--threads 1",
                                "attention --queries 0",
                                "attention --threads 0",
                                "attention --window -1",
                                "attention --seconds 0",
                                "attention --simd none",
                                "attention --dtype int8",
                                "attention --heads 3 --key-heads 2",
                                "attention extra",
                                "attention --batsh 1",
                                "decode --keys 0",
                                "decode --rotate 0",
                                "decode --dtype float64",
                                "decode --heads 3",
                                "attention --rotate 3",
                                "backward --queries 0",
                                "backward --rotate 3",
                                "matmul --m 0",
                                "matmul --dtype int8",
                                "matmul --rotate 3 --m 2",
                                "matmul --queries 3",
                                "positions --work none",
                                "positions --scheme roatry",
                                "positions --scheme learned",
                                "positions --work block --queries 8",
                                "positions --queries 0",
                                "training --shape gpt2",
                                "training --precision float16",
                                "training --batch 3"}) {
    const auto run =
        testing::run_command(std::string("volvelle bench ") + arguments + " 2>/dev/null");
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.standard_output, "") << arguments;
  }
}

}  // namespace
}  // namespace volvelle
