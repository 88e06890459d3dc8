// A small model with rotary positions learns a line by heart and says it: two prompts of different
// lengths are read at once, then one token at a time for both, from a cache. What is said stays
// within the length that was trained: turns beyond are ones that the model never saw.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "volvelle/nn/language_model.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/trainer.h"

namespace {

const std::string kLine = "set the disc, and read the answer off. ";
constexpr std::int64_t kTokens = 48, kBatch = 8, kWords = 128;

char letter(std::int64_t at) { return kLine[static_cast<std::size_t>(at) % kLine.size()]; }

// The most likely next token of each row of logits (B,V).
std::vector<std::int64_t> likeliest(const volvelle::Tensor& logits) {
  std::vector<std::int64_t> next;
  for (std::int64_t row = 0; row < logits.shape()[0]; ++row) {
    const float* of_row = logits.data<float>() + row * kWords;
    next.push_back(std::max_element(of_row, of_row + kWords) - of_row);
  }
  return next;
}

}  // namespace

int main() {
  volvelle::LanguageModel model(
      {.stack = {.layers = 2, .width = 32, .feed_forward = 64, .causal = true},
       .vocabulary = kWords,
       .positions = "rotary(base=1000)"});
  model.initialize(*volvelle::make_initializer({.seed = 0, .layers = 2}));
  volvelle::Trainer trainer(model, {.schedule = {.rate = 1e-2, .warm_up = 10, .steps = 200}});
  for (std::int64_t step = 0; step < 200; ++step) {
    std::vector<std::int64_t> ids, labels;
    for (std::int64_t i = 0; i < kBatch * kTokens; ++i) {
      const std::int64_t start = 11 * (kBatch * step + i / kTokens);
      ids.push_back(letter(start + i % kTokens));
      labels.push_back(letter(start + i % kTokens + 1));
    }
    trainer.step([&](std::int64_t, std::int64_t, const volvelle::ForwardOptions& how) {
      const volvelle::Shape shape{kBatch, kTokens};
      return volvelle::cross_entropy(model.forward(volvelle::View(ids.data(), shape), how),
                                     volvelle::View(labels.data(), shape));
    });
  }

  volvelle::ModelCache cache(model, {.capacity = 512});
  const std::vector<volvelle::Sequence> sequences{cache.add(), cache.add()};
  const std::string prompts[] = {"        set the ", "read the answer "};  // padding on the left
  const std::int64_t lengths[] = {8, 16};
  std::vector<std::int64_t> ids;
  for (const std::string& prompt : prompts) ids.insert(ids.end(), prompt.begin(), prompt.end());
  volvelle::Tensor logits = model.extend(volvelle::View(ids.data(), {2, 16}), cache, sequences,
                                         {.lengths = volvelle::View(lengths, {2})});
  std::string said[2];
  for (int step = 0; step < 28; ++step) {
    const std::vector<std::int64_t> next = likeliest(logits);
    for (int row = 0; row < 2; ++row) said[row] += static_cast<char>(next[row]);
    logits = model.step(volvelle::View(next.data(), {2}), cache, sequences);
  }
  std::printf("set the %s\nread the answer %s\n", said[0].c_str(), said[1].c_str());
  std::printf("tokens: %lld and %lld\n", static_cast<long long>(cache.length(sequences[0])),
              static_cast<long long>(cache.length(sequences[1])));
  return said[0] == "disc, and read the answer of" && said[1] == "off. set the disc, and read " ? 0
                                                                                                : 1;
}
