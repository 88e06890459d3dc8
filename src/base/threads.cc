#include "volvelle/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "base/thread_pool.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr int kMostThreads = 1024;

int cpus_of_process() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int> chosen{0};        // 0: not chosen yet
thread_local int chosen_here = 0;  // 0: as the process

void check(int count) {
  if (count < 1 || count > kMostThreads) {
    throw InvalidArgument("[threads] " + std::to_string(count) + " threads; give 1 to " +
                          std::to_string(kMostThreads));
  }
}

}  // namespace

int threads() noexcept {
  if (chosen_here != 0) return chosen_here;
  int count = chosen.load(std::memory_order_relaxed);
  if (count == 0) {
    count = cpus_of_process();
    chosen.store(count, std::memory_order_relaxed);
  }
  return count;
}

void set_threads(int count) {
  check(count);
  chosen.store(count, std::memory_order_relaxed);
}

ThreadScope::ThreadScope(int count) : before_(chosen_here) {
  if (count == 0) return;
  check(count);
  chosen_here = count;
}

ThreadScope::~ThreadScope() { chosen_here = before_; }

int resolve_threads(int requested) {
  if (requested == 0) return threads();
  check(requested);
  return requested;
}

}  // namespace volvelle
