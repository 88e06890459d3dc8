#include "attention/fused_backward.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "attention/backward_call.h"
#include "attention/backward_rows.h"
#include "attention/backward_walk.h"
#include "attention/fused.h"
#include "attention/turned_inputs.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

// Memory for as many tasks as run at once. All of it is had before anything is written, so that
// tasks, which wait for each other, never fail.
template <class T>
class TaskMemory {
 public:
  TaskMemory(BackwardCall<T>& call, int threads, Workspace& workspace)
      : bytes_(BackwardWalk<T>::bytes(call)), count_(threads) {
    constexpr std::size_t kFlag = 64;  // apart, for each is written by another thread
    const auto count = static_cast<std::size_t>(count_);
    memory_ = static_cast<std::byte*>(workspace.at_least(count * (bytes_ + kFlag)));
    for (int i = 0; i < count_; ++i) new (flag(i)) std::atomic<bool>(false);
  }

  /// Runs body(memory) with a piece that nobody else has.
  template <class Body>
  void lend(Body&& body) {
    int i = 0;
    while (flag(i)->exchange(true, std::memory_order_acquire)) i = (i + 1) % count_;
    body(memory_ + static_cast<std::size_t>(i) * (bytes_ + 64) + 64);
    flag(i)->store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool>* flag(int i) {
    return reinterpret_cast<std::atomic<bool>*>(memory_ +
                                                static_cast<std::size_t>(i) * (bytes_ + 64));
  }
  std::size_t bytes_;
  int count_;
  std::byte* memory_;
};

template <class T>
void backward_task(BackwardCall<T>& call, std::int64_t task, void* memory) {
  const ResolvedAttention& problem = call.problem;
  // Heads before blocks: what a task waits for was usually done long before.
  const std::int64_t block = task / (call.sets_batch * call.sets_heads);
  const std::int64_t set = task % (call.sets_batch * call.sets_heads);
  const std::int64_t share = problem.heads / problem.key_heads;
  const std::int64_t first_b = call.sets_batch == 1 ? 0 : set / call.sets_heads;
  const std::int64_t last_b = call.sets_batch == 1 ? problem.batch : first_b + 1;
  const std::int64_t first_g = call.sets_heads == 1 ? 0 : set % call.sets_heads;
  const std::int64_t last_g = call.sets_heads == 1 ? problem.key_heads : first_g + 1;
  BackwardWalk<T> walk(call, memory);
  for (std::int64_t b = first_b; b < last_b; ++b) {
    for (std::int64_t g = first_g; g < last_g; ++g) {
      walk.open_keys(b, g, block);
      for (std::int64_t h = g * share; h < (g + 1) * share; ++h) {
        for (std::int64_t group = 0; group < call.groups; ++group) walk.meet(h, group);
        walk.close_head(h);
      }
      walk.close_keys();
    }
  }
}

template <class T>
void store_sinks(const BackwardCall<T>& call) {
  const ResolvedAttention& problem = call.problem;
  const Strided2& to = call.backward.grad_sinks;
  if (!to.present) return;
  for (std::int64_t h = 0; h < problem.heads; ++h) {
    double sum = 0;
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      const double* parts = call.sink_parts + call.plane(b, h) * call.groups;
      for (std::int64_t group = 0; group < call.groups; ++group) sum += parts[group];
    }
    store_number(to, h, 0, sum);
  }
}

template <class T>
void backward_as(const ResolvedAttention& problem, const ResolvedAttention& given,
                 const ResolvedBackward& backward, int threads) {
  BackwardWorkspaces& workspaces = kept_by_thread<BackwardWorkspaces>();
  BackwardCall<T> call(problem, given, backward, threads, workspaces);
  const std::int64_t all_groups = problem.batch * problem.heads * call.groups;
  const std::int64_t most = std::max<std::int64_t>(std::max(call.tasks(), all_groups), 1);
  TaskMemory<T> memory(call, static_cast<int>(std::min<std::int64_t>(threads, most)),
                       workspaces.slots);
  call.bias.clear(threads);
  // With one block of keys its task has each group to itself and prepares it on the way.
  parallel_for(call.blocks > 1 ? all_groups : 0, threads, [&](std::int64_t task) {
    memory.lend([&](void* piece) {
      const std::int64_t plane = task / call.groups;
      BackwardWalk<T>(call, piece)
          .prepare_group(plane / problem.heads, plane % problem.heads, task % call.groups);
    });
  });
  parallel_for(call.tasks(), threads, [&](std::int64_t task) {
    memory.lend([&](void* piece) { backward_task(call, task, piece); });
  });
  call.bias.finish(threads);
  call.offsets.finish();
  call.relative_keys.finish();
  store_sinks(call);
}

// Weights are exp(score - log-sum-exp): of a saved one so far from 0 too little is left behind the
// point (a mask made of the lowest number, say).
template <class T>
bool any_beyond(const ResolvedAttention& problem, const Strided4& lse, T limit) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t h = 0; h < problem.heads; ++h) {
      const T* row = static_cast<const T*>(lse.data) + lse.offset(b, h, 0, 0);
      for (std::int64_t i = 0; i < problem.queries; ++i) {
        const T size = std::abs(row[i * lse.stride[2]]);
        if (size > limit && size <= std::numeric_limits<T>::max()) return true;
      }
    }
  }
  return false;
}

}  // namespace

const char* fused_backward_refusal(const ResolvedAttention& problem,
                                   const ResolvedBackward& backward) {
  constexpr std::int64_t kWidest = 4096;
  if (problem.width > kWidest || problem.value_width > kWidest) {
    return "the backward of heads wider than 4,096 does not fit a task's workspace";
  }
  const bool beyond =
      backward.lse.present &&
      (backward.lse.dtype == DType::float64 ? any_beyond<double>(problem, backward.lse, 0x1p40)
                                            : any_beyond<float>(problem, backward.lse, 0x1p14F));
  if (beyond) return "log-sum-exps beyond 2^14 (float64: 2^40) are too coarse to go back from";
  const char* refusal = fused_refusal(problem);
  return refusal != nullptr ? refusal : relative_keys_refusal(problem);
}

void attend_backward_fused(const ResolvedAttention& given, const ResolvedBackward& backward,
                           int threads) {
  const TurnedInputs turned(given, KeyTurns::before, threads);
  if (given.dtype == DType::float64) {
    backward_as<double>(turned.problem(), given, backward, threads);
  } else {
    backward_as<float>(turned.problem(), given, backward, threads);
  }
}

}  // namespace volvelle
