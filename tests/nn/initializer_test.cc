#include "volvelle/nn/initializer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support/random_vectors.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/initial_values.h"

namespace volvelle {
namespace {

using testing::Crc32;
using testing::hex_of;
using testing::random_vectors;

Variable parameter(const Shape& shape, DType dtype = DType::float32) {
  return Variable(Tensor(dtype, shape));
}

std::span<const float> floats(const Variable& variable) {
  return {variable.value().data<float>(), static_cast<std::size_t>(variable.size())};
}

std::string crc_of(const Variable& variable) {
  Crc32 crc;
  crc.add(floats(variable));
  return crc.hex();
}

std::unique_ptr<Initializer> torch_initializer(std::uint64_t seed) {
  return make_initializer({.seed = seed});
}

/// Compares with an entry {shape, crc32, sum, sumsq, first8, last8} of the vectors.
void expect_published(const Variable& variable, const nlohmann::json& expected,
                      const std::string& name) {
  std::vector<std::int64_t> shape(variable.shape().begin(), variable.shape().end());
  EXPECT_EQ(shape, expected["shape"].get<std::vector<std::int64_t>>()) << name;
  EXPECT_EQ(crc_of(variable), expected["crc32"]) << name;
  const auto all = floats(variable);
  if (expected.contains("first8")) {
    const std::size_t some = std::min<std::size_t>(8, all.size());
    EXPECT_EQ(hex_of(all.first(some)), expected["first8"]) << name;
    EXPECT_EQ(hex_of(all.last(some)), expected["last8"]) << name;
  }
  double sum = 0;
  for (const float value : all) sum += static_cast<double>(value);
  EXPECT_NEAR(sum, std::stod(expected["sum"].get<std::string>()), 1e-9) << name;
}

/// Makes a module of the vectors by its constructor's text, and gives its parameters.
std::map<std::string, Variable> made(const std::string& make, Initializer& draw) {
  std::map<std::string, Variable> p;
  Variable none;
  const auto linear = [&](std::int64_t in, std::int64_t out, const std::string& name = "") {
    p[name + "weight"] = parameter({out, in});
    p[name + "bias"] = parameter({out});
    draw.linear(p[name + "weight"], p[name + "bias"]);
  };
  const auto attention = [&](std::int64_t width, bool biases, const std::string& name = "") {
    AttentionParameters of{.in_proj_weight = parameter({3 * width, width}),
                           .out_weight = parameter({width, width})};
    if (biases) {
      of.in_proj_bias = parameter({3 * width});
      of.out_bias = parameter({width});
    }
    draw.attention(of);
    p[name + "in_proj_weight"] = of.in_proj_weight;
    p[name + "out_proj.weight"] = of.out_weight;
    if (!biases) return;
    p[name + "in_proj_bias"] = of.in_proj_bias;
    p[name + "out_proj.bias"] = of.out_bias;
  };
  const auto norm = [&](std::int64_t width, const std::string& name = "") {
    p[name + "weight"] = parameter({width});
    p[name + "bias"] = parameter({width});
    constant_values(p[name + "weight"], 1);
    constant_values(p[name + "bias"], 0);
  };
  const auto embedding = [&](std::int64_t rows, std::int64_t width) {
    p["weight"] = parameter({rows, width});
    draw.embedding(p["weight"]);
  };
  if (make == "nn.Linear(64, 256)") linear(64, 256);
  if (make == "nn.Linear(256, 64)") linear(256, 64);
  if (make == "nn.Linear(64, 10)") linear(64, 10);
  if (make == "nn.Linear(3, 5)") linear(3, 5);
  if (make == "nn.Linear(32, 96, bias=False)") {
    p["weight"] = parameter({96, 32});
    draw.linear(p["weight"], none);
  }
  if (make == "nn.MultiheadAttention(64, 4, batch_first=True)") attention(64, true);
  if (make == "nn.MultiheadAttention(12, 3, bias=False)") attention(12, false);
  if (make == "nn.MultiheadAttention(16, 2, kdim=8, vdim=12)") {
    AttentionParameters of{.q_weight = parameter({16, 16}),
                           .k_weight = parameter({16, 8}),
                           .v_weight = parameter({16, 12}),
                           .q_bias = parameter({48}),
                           .out_weight = parameter({16, 16}),
                           .out_bias = parameter({16})};
    draw.attention(of);
    p = {{"q_proj_weight", of.q_weight},     {"k_proj_weight", of.k_weight},
         {"v_proj_weight", of.v_weight},     {"in_proj_bias", of.q_bias},
         {"out_proj.weight", of.out_weight}, {"out_proj.bias", of.out_bias}};
  }
  if (make == "nn.Embedding(16, 8)") embedding(16, 8);
  if (make == "nn.Embedding(50, 64)") embedding(50, 64);
  if (make == "nn.Embedding(3, 5)") embedding(3, 5);
  if (make == "nn.LayerNorm(64)") norm(64);
  if (make == "nn.TransformerEncoderLayer(32, 4, 64)") {
    attention(32, true, "self_attn.");
    linear(32, 64, "linear1.");
    linear(64, 32, "linear2.");
    norm(32, "norm1.");
    norm(32, "norm2.");
  }
  return p;
}

/// The rules that no module has of its own.
std::map<std::string, Variable> made_by_rule(const std::string& make, AnyGenerator& draws) {
  std::map<std::string, Variable> p;
  Variable& tensor = p["tensor"] = parameter({24, 40});
  if (make.starts_with("xavier_uniform_"))
    xavier_uniform_values(tensor, draws);
  else if (make.starts_with("xavier_normal_"))
    xavier_normal_values(tensor, draws);
  else if (make.starts_with("kaiming_normal_"))
    kaiming_normal_values(tensor, draws, std::sqrt(2.0));
  else if (make.starts_with("kaiming_uniform_"))
    kaiming_uniform_values(tensor, draws, std::sqrt(2.0));
  else
    p.clear();
  if (make == "nn.Embedding(10, 16, padding_idx=0)") {
    p["weight"] = parameter({10, 16});
    torch_embedding_values(p["weight"], draws, 0);
  }
  return p;
}

TEST(Initializer, EveryPublishedModuleStartsFromTheSameBits) {
  const auto& rows = random_vectors()["initialisers"];
  ASSERT_EQ(rows.size(), 18u);
  for (const auto& row : rows) {
    const std::string make = row["make"];
    const auto seed = row["seed"].get<std::uint64_t>();
    AnyGenerator draws = make_generator(RandomStream::torch, seed);
    auto parameters = made_by_rule(make, draws);
    Variable next = parameter({1});
    if (parameters.empty()) {
      const auto initializer = torch_initializer(seed);
      parameters = made(make, *initializer);
      // A uniform number as the bias of a layer of one input lies at 2 u - 1.
      Variable weight = parameter({1, 1}), none;
      initializer->linear(weight, none);
      EXPECT_EQ(floats(weight)[0],
                std::fma(testing::floats_of_hex(row["next_rand"])[0], 2.0f, -1.0f))
          << make;
    } else {
      uniform_values(next, draws, 0, 1);
      EXPECT_EQ(hex_of(floats(next)), row["next_rand"]) << make;
    }
    ASSERT_EQ(parameters.size(), row["params"].size()) << make;
    for (const auto& [name, expected] : row["params"].items()) {
      ASSERT_TRUE(parameters.contains(name)) << make << " " << name;
      expect_published(parameters[name], expected, make + " " + name);
    }
  }
}

struct BlockParameters {
  AttentionParameters attention{.in_proj_weight = parameter({192, 64}),
                                .in_proj_bias = parameter({192}),
                                .out_weight = parameter({64, 64}),
                                .out_bias = parameter({64})};
  Variable first = parameter({256, 64}), first_bias = parameter({256});
  Variable second = parameter({64, 256}), second_bias = parameter({64});

  void draw(Initializer& initializer) {
    initializer.attention(attention);
    initializer.linear(first, first_bias);
    initializer.branch_end(second, second_bias);
  }
  std::vector<const Variable*> in_order() const {
    return {&attention.in_proj_weight,
            &attention.in_proj_bias,
            &attention.out_weight,
            &attention.out_bias,
            &first,
            &first_bias,
            &second,
            &second_bias};
  }
};

// The document's third program: a stack, its head and its input, for 3 depths and 20 seeds, from
// one draw of 48 layers a seed.
TEST(Initializer, EveryStackOfTheDocumentStartsFromTheSameBits) {
  const auto& published = random_vectors()["program3"]["crc_all"]["depth/seed"];
  ASSERT_EQ(published.size(), 60u);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TorchGenerator labels_from(1000 + seed);
    std::vector<std::int64_t> labels64(128);
    labels_from.integers(labels64, 0, 10);
    const std::vector<std::int32_t> labels(labels64.begin(), labels64.end());
    const auto initializer = torch_initializer(seed);
    Crc32 blocks;
    BlockParameters block;
    for (int depth = 1; depth <= 48; ++depth) {
      block.draw(*initializer);
      for (const Variable* variable : block.in_order()) blocks.add(floats(*variable));
      if (depth != 12 && depth != 24 && depth != 48) continue;
      const auto rest = initializer->clone();
      Variable head = parameter({10, 64}), head_bias = parameter({10}), x = parameter({8, 16, 64});
      rest->linear(head, head_bias);
      rest->normal(x);
      Crc32 all = blocks;
      for (const Variable* variable : {&head, &head_bias, &x}) all.add(floats(*variable));
      all.add(labels);
      EXPECT_EQ(all.hex(), published.at(std::to_string(depth) + "/" + std::to_string(seed)));
    }
  }
}

TEST(Initializer, EveryParameterOfTheDocumentsFirstStackIsPublished) {
  const auto& published = random_vectors()["program3"]["seed0_depth12_params"];
  const auto initializer = torch_initializer(0);
  for (int layer = 0; layer < 12; ++layer) {
    BlockParameters block;
    block.draw(*initializer);
    const std::string name = "block" + std::to_string(layer) + ".";
    expect_published(block.attention.in_proj_weight, published[name + "in_proj.weight"], name);
    expect_published(block.attention.out_weight, published[name + "out_proj.weight"], name);
    expect_published(block.first, published[name + "ff0.weight"], name);
    expect_published(block.first_bias, published[name + "ff0.bias"], name);
    expect_published(block.second, published[name + "ff2.weight"], name);
    expect_published(block.second_bias, published[name + "ff2.bias"], name);
  }
}

TEST(Initializer, TheDocumentsFifthAndSeventhProgramsStartFromTheSameBits) {
  const auto& fifth = random_vectors()["program5"];
  auto draw = torch_initializer(0);
  for (const char* name : {"Wq", "Wk", "Wv"}) {
    Variable weight = parameter({8, 8});
    draw->normal(weight);
    scale_values(weight, 0.4);
    EXPECT_EQ(hex_of(floats(weight)), fifth[name]) << name;
  }
  Variable x = parameter({6, 8}), table = parameter({16, 8});
  draw->normal(x);
  EXPECT_EQ(hex_of(floats(x)), fifth["x"]);
  draw->embedding(table);
  expect_published(table, fifth["embedding"], "embedding");

  const auto& seventh = random_vectors()["program7"];
  draw = torch_initializer(0);
  Variable none, qkv = parameter({96, 32}), out = parameter({32, 32}),
                 input = parameter({2, 12, 32});
  Variable query = parameter({8}), key = parameter({8}), tail = parameter({2, 3, 32});
  draw->linear(qkv, none);
  draw->linear(out, none);
  draw->normal(input);
  draw->normal(query);
  draw->normal(key);
  draw->normal(tail);
  expect_published(qkv, seventh["qkv.weight"], "qkv");
  expect_published(out, seventh["out.weight"], "out");
  expect_published(input, seventh["x"], "x");
  EXPECT_EQ(hex_of(floats(query)), seventh["qv"]);
  EXPECT_EQ(hex_of(floats(key)), seventh["kv"]);
  expect_published(tail, seventh["tail_randn(2,3,32)"], "tail");
}

TEST(Initializer, DoublesAreTheSameFloatsWidened) {
  for (const RandomStream stream :
       {RandomStream::torch, RandomStream::numpy, RandomStream::philox}) {
    for (const Initialization scheme :
         {Initialization::torch, Initialization::xavier, Initialization::normal}) {
      const auto single = make_initializer({.scheme = scheme, .stream = stream, .seed = 4});
      const auto twice = make_initializer({.scheme = scheme, .stream = stream, .seed = 4});
      Variable weight = parameter({5, 7}), bias = parameter({5});
      Variable wide = parameter({5, 7}, DType::float64), wide_bias = parameter({5}, DType::float64);
      single->linear(weight, bias);
      twice->linear(wide, wide_bias);
      for (std::size_t i = 0; i < 35; ++i) {
        EXPECT_EQ(wide.value().data<double>()[i], static_cast<double>(floats(weight)[i]));
      }
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(wide_bias.value().data<double>()[i], static_cast<double>(floats(bias)[i]));
      }
    }
  }
}

double deviation(const Variable& variable) {
  double squares = 0;
  for (const float value : floats(variable)) squares += static_cast<double>(value * value);
  return std::sqrt(squares / static_cast<double>(variable.size()));
}

double largest(const Variable& variable) {
  double most = 0;
  for (const float value : floats(variable))
    most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

struct Drawn {
  Variable weight = parameter({100, 80}), bias = parameter({100});
  Variable end = parameter({80, 100}), end_bias = parameter({80});
  Variable table = parameter({60, 80});
  AttentionParameters attention{.in_proj_weight = parameter({240, 80}),
                                .in_proj_bias = parameter({240}),
                                .out_weight = parameter({80, 80}),
                                .out_bias = parameter({80})};
};

Drawn draw_all(const InitializerOptions& options) {
  Drawn drawn;
  const auto initializer = make_initializer(options);
  initializer->linear(drawn.weight, drawn.bias);
  initializer->branch_end(drawn.end, drawn.end_bias);
  initializer->attention(drawn.attention);
  initializer->embedding(drawn.table);
  return drawn;
}

TEST(Initializer, DepthScaledIsTorchsWithSmallerEnds) {
  const Drawn plain = draw_all({.seed = 2});
  const Drawn scaled = draw_all({.scheme = Initialization::depth_scaled, .seed = 2, .layers = 8});
  EXPECT_EQ(crc_of(plain.weight), crc_of(scaled.weight));
  EXPECT_EQ(crc_of(plain.attention.in_proj_weight), crc_of(scaled.attention.in_proj_weight));
  EXPECT_EQ(crc_of(plain.table), crc_of(scaled.table));
  const auto quarter = [](const Variable& of, const Variable& whole) {
    for (std::size_t i = 0; i < floats(of).size(); ++i) {
      ASSERT_EQ(floats(of)[i], floats(whole)[i] * 0.25f);
    }
  };
  quarter(scaled.end, plain.end);
  quarter(scaled.end_bias, plain.end_bias);
  quarter(scaled.attention.out_weight, plain.attention.out_weight);
}

TEST(Initializer, XavierGoesByRowsAndColumns) {
  const Drawn drawn = draw_all({.scheme = Initialization::xavier});
  const auto expect_bound = [](const Variable& of, double size) {
    const double bound = std::sqrt(6 / size);
    EXPECT_LE(largest(of), bound * 1.0000001);
    EXPECT_GT(largest(of), bound * 0.99);
  };
  expect_bound(drawn.weight, 180);
  expect_bound(drawn.end, 180);
  expect_bound(drawn.attention.in_proj_weight, 320);
  expect_bound(drawn.attention.out_weight, 160);
  expect_bound(drawn.table, 140);
  EXPECT_EQ(largest(drawn.bias), 0);
  EXPECT_EQ(largest(drawn.attention.in_proj_bias), 0);
}

TEST(Initializer, NormalIsGpt2s) {
  const Drawn drawn = draw_all({.scheme = Initialization::normal, .layers = 8});
  EXPECT_NEAR(deviation(drawn.weight), 0.02, 0.0005);
  EXPECT_NEAR(deviation(drawn.table), 0.02, 0.0005);
  EXPECT_NEAR(deviation(drawn.attention.in_proj_weight), 0.02, 0.0005);
  EXPECT_NEAR(deviation(drawn.end), 0.005, 0.0002);
  EXPECT_NEAR(deviation(drawn.attention.out_weight), 0.005, 0.0002);
  EXPECT_EQ(largest(drawn.bias), 0);
  EXPECT_EQ(largest(drawn.end_bias), 0);
  EXPECT_EQ(largest(drawn.attention.out_bias), 0);
}

TEST(Initializer, StreamsAndSeedsDrawDifferentNumbers) {
  std::map<std::string, int> seen;
  for (const RandomStream stream :
       {RandomStream::torch, RandomStream::numpy, RandomStream::philox}) {
    for (const std::uint64_t seed : {0u, 1u}) {
      ++seen[crc_of(draw_all({.stream = stream, .seed = seed}).weight)];
    }
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(Initializer, ACloneLeavesTheOriginalWhereItIs) {
  for (const Initialization scheme :
       {Initialization::torch, Initialization::xavier, Initialization::normal}) {
    const auto original = make_initializer({.scheme = scheme, .seed = 6});
    Variable none, a = parameter({9, 9}), b = parameter({9, 9}), c = parameter({9, 9});
    original->linear(a, none);
    const auto copy = original->clone();
    copy->linear(a, none);
    copy->linear(b, none);
    original->linear(c, none);
    EXPECT_EQ(crc_of(a), crc_of(c));
    EXPECT_NE(crc_of(b), crc_of(c));
  }
}

TEST(Initializer, WhatCannotBeInitialisedIsRefused) {
  EXPECT_THROW(make_initializer({.layers = 0}), InvalidArgument);
  const auto draw = torch_initializer(0);
  Variable none, vector = parameter({4}), half = parameter({4, 4}, DType::bfloat16);
  Variable empty = parameter({4, 0}), frozen = parameter({4, 4}), absent;
  frozen.make_read_only();
  EXPECT_THROW(draw->linear(vector, none), InvalidArgument);
  EXPECT_THROW(draw->linear(half, none), InvalidArgument);
  EXPECT_THROW(draw->linear(empty, none), InvalidArgument);
  EXPECT_THROW(draw->linear(frozen, none), InvalidArgument);
  EXPECT_THROW(draw->linear(absent, none), InvalidArgument);
  AnyGenerator draws = make_generator(RandomStream::torch, 0);
  Variable table = parameter({3, 4});
  EXPECT_THROW(torch_embedding_values(table, draws, 3), InvalidArgument);
  EXPECT_THROW(scale_values(half, 2), InvalidArgument);
}

TEST(Initializer, NamesAreThoseOfTheOptions) {
  EXPECT_EQ(name_of(Initialization::torch), "torch");
  EXPECT_EQ(name_of(Initialization::xavier), "xavier");
  EXPECT_EQ(name_of(Initialization::depth_scaled), "depth-scaled");
  EXPECT_EQ(name_of(Initialization::normal), "normal");
  EXPECT_EQ(name_of(RandomStream::torch), "torch");
  EXPECT_EQ(name_of(RandomStream::numpy), "numpy");
  EXPECT_EQ(name_of(RandomStream::philox), "philox");
}

}  // namespace
}  // namespace volvelle
