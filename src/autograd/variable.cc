#include "volvelle/autograd/variable.h"

#include <string>
#include <utility>

#include "autograd/node.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

void check_floating(DType dtype) {
  if (is_floating(dtype) && dtype != DType::float16) return;
  throw InvalidArgument("[variable] gradients are for float32, bfloat16 and float64; this one is " +
                        std::string(name_of(dtype)));
}

void check_same(const char* what, const Tensor& given, const Tensor& value) {
  if (given && given.shape() == value.shape() && given.dtype() == value.dtype()) return;
  throw InvalidArgument("[variable] " + std::string(what) + " " +
                        (given
                             ? to_string(given.shape()) + " " + std::string(name_of(given.dtype()))
                             : std::string("(absent)")) +
                        " must be " + to_string(value.shape()) + " " +
                        std::string(name_of(value.dtype())) + ", as the variable is");
}

}  // namespace

Variable::Variable(Tensor value, bool requires_grad) : state_(std::make_shared<State>()) {
  if (!value) throw InvalidArgument("[variable] the tensor is absent");
  if (requires_grad) check_floating(value.dtype());
  state_->value = std::move(value);
  state_->requires_grad = requires_grad;
}

Variable::State& Variable::checked() const {
  if (!state_) throw InvalidArgument("[variable] it is absent (default-constructed)");
  return *state_;
}

const Tensor& Variable::value() const { return checked().value; }
View Variable::view() const { return checked().value.view(); }
const Shape& Variable::shape() const { return checked().value.shape(); }
int Variable::rank() const { return checked().value.rank(); }
DType Variable::dtype() const { return checked().value.dtype(); }
std::int64_t Variable::size() const { return checked().value.size(); }

MutableView Variable::change() {
  State& state = checked();
  if (state.numbers->read_only) {
    throw InvalidArgument("[variable] " + to_string(state.value.shape()) +
                          " is read-only (part of a mapped file, or shared): replace it by a copy "
                          "to change it");
  }
  ++state.numbers->version;
  return state.value.mutable_view();
}

void Variable::replace(Tensor value) {
  State& state = checked();
  check_same("the new value", value, state.value);
  // Variables that show the old bytes keep them.
  state.numbers = std::make_shared<Numbers>(Numbers{state.numbers->version + 1, false});
  state.value = std::move(value);
}

void Variable::make_read_only() { checked().numbers->read_only = true; }
bool Variable::is_read_only() const { return checked().numbers->read_only; }
std::uint64_t Variable::version() const { return checked().numbers->version; }

bool Variable::requires_grad() const {
  const State& state = checked();
  return state.node != nullptr || state.requires_grad;
}

void Variable::set_requires_grad(bool wanted) {
  State& state = checked();
  if (state.node) {
    throw InvalidArgument(
        "[variable] only leaves can be told to require a gradient; this is the "
        "result of " +
        std::string(state.node->operation));
  }
  if (wanted) check_floating(state.value.dtype());
  state.requires_grad = wanted;
}

bool Variable::is_leaf() const { return checked().node == nullptr; }

Tensor Variable::grad() const {
  const State& state = checked();
  return state.grad.filled ? state.grad.gradient : Tensor();
}

void Variable::retain_grad() {
  State& state = checked();
  if (state.node) state.node->retains = true;
}

void Variable::clear_grad() {
  State& state = checked();
  state.grad.filled = false;
  if (!state.bound) state.grad.gradient = Tensor();
}

void Variable::bind_grad(Tensor storage, Store store) {
  State& state = checked();
  if (state.node) {
    throw InvalidArgument("[variable] only leaves take storage for their gradients");
  }
  check_same("storage of the gradient", storage, state.value);
  state.grad = {.gradient = std::move(storage), .filled = store == Store::accumulate};
  state.bound = true;
}

void Variable::unbind_grad() {
  State& state = checked();
  state.bound = false;
  clear_grad();
}

std::shared_ptr<const void> Variable::derived() const {
  State& state = checked();
  const std::lock_guard lock(state.deriving);
  return state.derived_version == state.numbers->version ? state.derived : nullptr;
}

void Variable::keep_derived(std::shared_ptr<const void> made) const {
  State& state = checked();
  const std::lock_guard lock(state.deriving);
  state.derived = std::move(made);
  state.derived_version = state.numbers->version;
}

}  // namespace volvelle
