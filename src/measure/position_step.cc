// One more token of a model behind a cache of many.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/random_numbers.h"
#include "measure/position_work.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/model_cache.h"

namespace volvelle {
namespace {

LanguageModelOptions options_of(const PositionCase& one) {
  LanguageModelOptions options;
  options.stack.layers = kStepLayers;
  options.stack.width = one.shape.heads * one.shape.head_width;
  options.stack.heads = one.shape.heads;
  options.stack.feed_forward = 4 * options.stack.width;
  options.stack.placement = "pre";
  options.stack.final_norm = FinalNorm::yes;
  options.stack.causal = true;
  options.vocabulary = kStepVocabulary;
  options.positions = one.scheme;
  return options;
}

class StepTask : public PositionTask {
 public:
  StepTask(const PositionCase& one, int threads)
      : one_(one),
        model_(options_of(one)),
        ids_(DType::int64, {1, one.shape.keys + 1}),
        how_{.threads = threads} {
    const auto initializer = make_initializer({.seed = 1, .layers = kStepLayers});
    model_.initialize(*initializer);
    RandomNumbers random(2);
    for (std::int64_t i = 0; i < ids_.size(); ++i) {
      ids_.data<std::int64_t>()[i] = random.below(kStepVocabulary);
    }
    cache_.emplace(model_, ModelCacheOptions{.capacity = one.shape.keys + 1});
    sequence_[0] = cache_->add();
    const View all = ids_.view();
    model_.extend(View(all.data(), DType::int64, {1, one.shape.keys}, {one.shape.keys, 1}), *cache_,
                  sequence_, {}, how_);
  }

  void run() override { step(); }

  double check() override {
    const Tensor ours = step();
    const Tensor all = model_.forward(ids_.view(), how_).value();
    const float* right = all.data<float>() + one_.shape.keys * kStepVocabulary;
    double most = 0, size = 0;
    for (std::int64_t i = 0; i < kStepVocabulary; ++i) {
      const auto wanted = static_cast<double>(right[i]);
      const double apart = std::abs(static_cast<double>(ours.data<float>()[i]) - wanted);
      most = apart <= most ? most : apart;
      size = std::max(size, std::abs(wanted));
    }
    if (!(most <= 1e-3 * (1 + size))) {
      throw InternalError("[bench] the logits of a step behind a cache are off by " +
                          std::to_string(most) + " from those of the full pass with '" +
                          one_.scheme + "'; please report this");
    }
    return most;
  }

  double bytes() const override {
    double weights = 0;
    for (const NamedParameter& parameter : model_.parameters()) {
      weights += static_cast<double>(parameter.variable.size()) * sizeof(float);
    }
    const auto width = static_cast<double>(one_.shape.heads * one_.shape.head_width);
    const auto tokens = static_cast<double>(one_.shape.keys);
    return weights + kStepLayers * 2 * tokens * width * sizeof(float);
  }

 private:
  Tensor step() {
    const std::int64_t* last = ids_.data<std::int64_t>() + one_.shape.keys;
    Tensor logits = model_.step(View(last, DType::int64, {1}, {1}), *cache_, sequence_, how_);
    cache_->truncate(sequence_[0], one_.shape.keys);
    return logits;
  }

  PositionCase one_;
  LanguageModel model_;
  Tensor ids_;
  ForwardOptions how_;
  std::optional<ModelCache> cache_;
  std::array<Sequence, 1> sequence_ = {};
};

}  // namespace

std::unique_ptr<PositionTask> step_task(const PositionCase& one, int threads) {
  return std::make_unique<StepTask>(one, threads);
}

}  // namespace volvelle
