#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      parallel_for(tasks, threads,
                   [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST(ThreadPool, UsesNoMoreThreadsThanAsked) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  for (int repeat = 0; repeat < 50; ++repeat) {
    parallel_for(8, 8, [](std::int64_t) {});  // the pool has grown beyond what follows asks for
    parallel_for(64, 3, [&](std::int64_t) {
      const int now = ++inside;
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --inside;
    });
  }
  EXPECT_LE(most.load(), 3);
}

TEST(ThreadPool, ThrowsTheFirstFailureInTaskOrder) {
  for (const int threads : {1, 4}) {
    std::atomic<int> ran{0};
    try {
      parallel_for(100, threads, [&](std::int64_t task) {
        ++ran;
        if (task >= 10) throw std::runtime_error(std::to_string(task));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "10");
    }
    EXPECT_GE(ran.load(), 11);
  }
}

TEST(ThreadPool, ACallInsideATaskRunsAlone) {
  std::atomic<int> sum{0};
  parallel_for(4, 4, [&](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(10, 4, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++sum;
    });
  });
  EXPECT_EQ(sum.load(), 40);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        parallel_for(16, 3, [&](std::int64_t task) { sum += task; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 200 * 120);
}

TEST(ThreadPool, AForkedChildHasAPoolOfItsOwn) {
  std::atomic<int> before{0};
  parallel_for(16, 4, [&](std::int64_t) { ++before; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a hang must end as a failure
    std::atomic<int> ran{0};
    parallel_for(100, 4, [&](std::int64_t) { ++ran; });
    _exit(ran.load() == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  parallel_for(16, 4, [&](std::int64_t) { ++before; });
  EXPECT_EQ(before.load(), 32);
}

TEST(Threads, CountsOutsideTheRangeAreRefused) {
  EXPECT_THROW(set_threads(0), InvalidArgument);
  EXPECT_THROW(set_threads(-1), InvalidArgument);
  EXPECT_THROW(set_threads(1025), InvalidArgument);
  EXPECT_THROW(resolve_threads(-2), InvalidArgument);
  const int before = threads();
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  EXPECT_EQ(resolve_threads(0), 3);
  EXPECT_EQ(resolve_threads(5), 5);
  set_threads(before);
}

TEST(Threads, AScopeCountsForItsThreadAndEnds) {
  const int before = threads();
  {
    const ThreadScope outer(before + 2);
    EXPECT_EQ(threads(), before + 2);
    EXPECT_EQ(resolve_threads(0), before + 2);
    EXPECT_EQ(resolve_threads(1), 1);
    {
      const ThreadScope inner(1);
      EXPECT_EQ(threads(), 1);
      const ThreadScope none(0);
      EXPECT_EQ(threads(), 1);
    }
    EXPECT_EQ(threads(), before + 2);
    int elsewhere = 0;
    std::thread([&] { elsewhere = threads(); }).join();
    EXPECT_EQ(elsewhere, before);
  }
  EXPECT_EQ(threads(), before);
  EXPECT_THROW(ThreadScope(-1), InvalidArgument);
  EXPECT_THROW(ThreadScope(1025), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
