#pragma once

#include <cstdint>
#include <type_traits>

namespace volvelle {

/// Runs body(task) for every task in [0, tasks), on the calling thread and at most `threads` - 1
/// workers of the process's pool; tasks are handed out in order, one at a time. Returns when all
/// are done. An exception of a task is thrown here after the others have ended (the first in task
/// order). May be called from several threads at once; a call from inside a task runs alone.
/// Workers spin at most 50 microseconds for the next call, then sleep. A child made by fork starts
/// a pool of its own.
void parallel_for(std::int64_t tasks, int threads, void (*body)(void*, std::int64_t),
                  void* context);

template <class Body>
void parallel_for(std::int64_t tasks, int threads, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  parallel_for(
      tasks, threads,
      [](void* context, std::int64_t task) { (*static_cast<Plain*>(context))(task); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// `requested` if positive, else the process's setting. Throws InvalidArgument for negative values.
int resolve_threads(int requested);

}  // namespace volvelle
