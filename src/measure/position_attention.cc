// `attend` and `attend_backward` with a position scheme.
#include "measure/position_work.h"
#include "measure/positioned_attention.h"
#include "measure/random_array.h"
#include "measure/sampled_check.h"
#include "measure/sampled_gradients.h"
#include "volvelle/attention/attend.h"

namespace volvelle {
namespace {

class AttentionTask : public PositionTask {
 public:
  AttentionTask(const PositionCase& one, int threads)
      : arrays_(one.shape),
        attention_(arrays_, one.scheme),
        output_(Tensor::zeros(one.shape.dtype, arrays_.q.shape())) {
    how_.threads = threads;
  }

  void run() override {
    AttentionOutputs outputs;
    outputs.output = output_.mutable_view();
    attend(attention_.problem(), outputs, how_);
  }
  double check() override {
    run();
    return check_sampled_rows(attention_.problem(), output_.view());
  }

 private:
  AttentionArrays arrays_;
  PositionedAttention attention_;
  AttentionOptions how_;
  Tensor output_;
};

class BackwardTask : public PositionTask {
 public:
  BackwardTask(const PositionCase& one, int threads)
      : arrays_(one.shape),
        attention_(arrays_, one.scheme),
        grad_output_(random_array(one.shape.dtype, arrays_.q.shape(), 4)),
        q_(Tensor::zeros(one.shape.dtype, arrays_.q.shape())),
        k_(Tensor::zeros(one.shape.dtype, arrays_.k.shape())),
        v_(Tensor::zeros(one.shape.dtype, arrays_.v.shape())) {
    how_.threads = threads;
    forward_ = attend(attention_.problem(), AttentionRequest{}, how_);
    saved_ = {.output = forward_.output.view(), .lse = forward_.lse.view()};
    AttentionGradients wanted;
    wanted.q = q_.mutable_view();
    wanted.k = k_.mutable_view();
    wanted.v = v_.mutable_view();
    gradients_ = attention_.gradients(wanted);
  }

  void run() override {
    attend_backward(attention_.problem(), saved_, grad_output_.view(), gradients_, how_);
  }
  double check() override {
    check_sampled_rows(attention_.problem(), forward_.output.view());
    run();
    return check_sampled_gradients(attention_.problem(), saved_, grad_output_.view(), gradients_);
  }

 private:
  AttentionArrays arrays_;
  PositionedAttention attention_;
  AttentionOptions how_;
  Tensor grad_output_, q_, k_, v_;
  AttentionResult forward_;
  AttentionSaved saved_;
  AttentionGradients gradients_;
};

}  // namespace

std::unique_ptr<PositionTask> attention_task(const PositionCase& one, int threads) {
  return std::make_unique<AttentionTask>(one, threads);
}

std::unique_ptr<PositionTask> backward_task(const PositionCase& one, int threads) {
  return std::make_unique<BackwardTask>(one, threads);
}

}  // namespace volvelle
