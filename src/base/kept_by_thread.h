#pragma once

namespace volvelle {

/// The calling thread's own `Workspaces`, kept from call to call so that none allocates what an
/// earlier one has. Of a type there is one: who works inside a task asks for a `Workspace`, who
/// prepares a call for workspaces of a type of its own, since its tasks run on its thread as well.
template <class Workspaces>
Workspaces& kept_by_thread() {
  thread_local Workspaces workspaces;
  return workspaces;
}

}  // namespace volvelle
