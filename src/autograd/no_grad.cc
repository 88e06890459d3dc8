#include "volvelle/autograd/no_grad.h"

#include <utility>

namespace volvelle {
namespace {

thread_local bool enabled = true;

}  // namespace

NoGrad::NoGrad() : before_(std::exchange(enabled, false)) {}
NoGrad::~NoGrad() { enabled = before_; }
WithGrad::WithGrad() : before_(std::exchange(enabled, true)) {}
WithGrad::~WithGrad() { enabled = before_; }

bool is_grad_enabled() noexcept { return enabled; }

}  // namespace volvelle
