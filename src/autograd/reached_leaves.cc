#include "autograd/reached_leaves.h"

#include <algorithm>
#include <utility>

namespace volvelle {
namespace {

thread_local ReachedLeaves* listing = nullptr;

}  // namespace

ReachedLeaves::ReachedLeaves() : before_(std::exchange(listing, this)) {}
ReachedLeaves::~ReachedLeaves() { listing = before_; }

bool ReachedLeaves::is_listing() { return listing != nullptr; }

void ReachedLeaves::note(const Variable& input) {
  if (listing == nullptr || !input || !input.is_leaf() || !input.requires_grad()) return;
  const void* const state = input.state().get();
  std::vector<const void*>& known = listing->known_;
  const auto place = std::lower_bound(known.begin(), known.end(), state);
  if (place != known.end() && *place == state) return;
  known.insert(place, state);
  listing->leaves_.emplace_back(input);
}

}  // namespace volvelle
