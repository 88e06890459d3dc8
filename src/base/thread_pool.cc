#include "base/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace volvelle {
namespace {

// One parallel_for call. Lives on the caller's stack; workers touch it only between joining and
// leaving, both under the pool's mutex.
struct Job {
  void (*body)(void*, std::int64_t);
  void* context;
  std::int64_t tasks;
  std::atomic<std::int64_t> next{0};
  int room;         // workers that may still join
  int working = 0;  // workers inside
  std::mutex failure_mutex;
  std::int64_t failed_task = 0;
  std::exception_ptr failure;

  Job(void (*b)(void*, std::int64_t), void* c, std::int64_t t, int r)
      : body(b), context(c), tasks(t), room(r) {}

  bool open() const { return room > 0 && next.load(std::memory_order_relaxed) < tasks; }

  void run() {
    while (true) {
      const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks) return;
      try {
        body(context, task);
      } catch (...) {
        std::lock_guard lock(failure_mutex);
        if (!failure || task < failed_task) {
          failure = std::current_exception();
          failed_task = task;
        }
      }
    }
  }
};

thread_local bool inside_task = false;

class Pool {
 public:
  void run(Job& job) {
    const int wanted = job.room;
    {
      std::lock_guard lock(mutex_);
      while (static_cast<int>(workers_.size()) < wanted) {
        try {
          workers_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
          break;  // no more threads to be had: those there are do the work
        }
      }
      jobs_.push_back(&job);
      posted_.fetch_add(1, std::memory_order_release);
    }
    if (wanted == 1) {
      wake_.notify_one();
    } else {
      wake_.notify_all();
    }
    inside_task = true;
    job.run();
    inside_task = false;
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    if (job.working == 0) return;
    // The last tasks are usually about to end: spin a little before sleeping.
    lock.unlock();
    const auto until = std::chrono::steady_clock::now() + kSpin;
    while (std::chrono::steady_clock::now() < until) {
      lock.lock();
      if (job.working == 0) return;
      lock.unlock();
      for (int i = 0; i < 32; ++i) pause();
    }
    lock.lock();
    left_.wait(lock, [&] { return job.working == 0; });
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      posted_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

 private:
  static constexpr std::chrono::microseconds kSpin{50};

  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  Job* find_open() {
    for (Job* job : jobs_) {
      if (job->open()) return job;
    }
    return nullptr;
  }

  void work() {
    inside_task = true;
    std::unique_lock lock(mutex_);
    while (!stop_) {
      Job* job = find_open();
      if (job == nullptr) {
        const std::uint64_t seen = posted_.load(std::memory_order_acquire);
        lock.unlock();
        const auto until = std::chrono::steady_clock::now() + kSpin;
        while (posted_.load(std::memory_order_acquire) == seen &&
               std::chrono::steady_clock::now() < until) {
          for (int i = 0; i < 32; ++i) pause();
        }
        lock.lock();
        if (!stop_ && posted_.load(std::memory_order_acquire) == seen) wake_.wait(lock);
        continue;
      }
      --job->room;
      ++job->working;
      lock.unlock();
      job->run();
      lock.lock();
      if (--job->working == 0) left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable left_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> workers_;
  std::atomic<std::uint64_t> posted_{0};
  bool stop_ = false;
};

// The process's pool. A forked child has the parent's memory but none of its threads: it drops
// the pool without running destructors (the threads to join are not there) and makes another.
std::atomic<Pool*> process_pool{nullptr};
std::mutex creation_mutex;

Pool& pool() {
  Pool* current = process_pool.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  std::lock_guard lock(creation_mutex);
  current = process_pool.load(std::memory_order_acquire);
  if (current == nullptr) {
    static const int kRegistered =
        pthread_atfork([] { creation_mutex.lock(); }, [] { creation_mutex.unlock(); },
                       [] {
                         process_pool.store(nullptr);
                         creation_mutex.unlock();
                         inside_task = false;
                       });
    (void)kRegistered;
    current = new Pool;
    process_pool.store(current, std::memory_order_release);
  }
  return *current;
}

// Joins the workers when the process ends in good order.
struct PoolEnd {
  ~PoolEnd() { delete process_pool.exchange(nullptr); }
} pool_end;

}  // namespace

void parallel_for(std::int64_t tasks, int threads, void (*body)(void*, std::int64_t),
                  void* context) {
  const std::int64_t helpers = std::min<std::int64_t>(threads - 1, tasks - 1);
  if (helpers <= 0 || inside_task) {
    for (std::int64_t task = 0; task < tasks; ++task) body(context, task);
    return;
  }
  Job job(body, context, tasks, static_cast<int>(helpers));
  pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace volvelle
