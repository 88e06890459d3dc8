#include "training/trouble.h"

#include <cstdint>

#include "volvelle/autograd/non_finite_result.h"
#include "volvelle/ops/sums.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// "(2,5)": the place of an element, given by its index in row-major order.
std::string place_of(const Shape& shape, std::int64_t index) {
  Axes place = Axes::filled(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return to_string(place);
}

std::string element_text(const View& view, std::int64_t index) {
  return "at " + place_of(view.shape(), index) + ": " +
         std::to_string(element_as_double(view, index));
}

std::string name_of_parameter(const Variable& variable,
                              const std::vector<NamedParameter>& parameters) {
  for (const NamedParameter& parameter : parameters) {
    if (parameter.variable.state() == variable.state()) return parameter.name;
  }
  return "an unnamed " + to_string(variable.shape());
}

}  // namespace

std::string trouble_of_loss(const Variable& loss, const std::vector<NamedParameter>& parameters) {
  const std::string start =
      "the loss is " + std::to_string(element_as_double(loss.view(), 0)) + ": ";
  for (const NamedParameter& parameter : parameters) {
    const View weight = parameter.variable.view();
    const std::int64_t index = first_non_finite(weight);
    if (index >= 0) {
      return start + "parameter " + parameter.name + " was not finite before, " +
             element_text(weight, index);
    }
  }
  const std::optional<NonFiniteResult> result = first_non_finite_result(loss);
  if (!result) return start + "what it was computed from is not on the tape";
  std::string text = start + "the first result that is not finite is that of " + result->operation +
                     ", at " + place_of(result->shape, result->index) + ": " +
                     std::to_string(result->value);
  if (!result->parameters.empty()) {
    text += ", at or behind " + name_of_parameter(result->parameters.front(), parameters);
  }
  return text;
}

std::string trouble_of_gradients(const std::vector<NamedParameter>& parameters,
                                 const std::function<View(std::size_t)>& gradient) {
  std::size_t first = 0, last = 0, count = 0;
  std::int64_t place = -1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t index = first_non_finite(gradient(i));
    if (index < 0) continue;
    if (count++ == 0) {
      first = i;
      place = index;
    }
    last = i;
  }
  if (count == 0) return "the norm of the gradients is beyond what a double holds";
  std::string text = "the gradient of " + parameters[first].name + " is not finite " +
                     element_text(gradient(first), place);
  if (count > 1) {
    text += "; so are " + std::to_string(count) + " of " + std::to_string(parameters.size()) +
            " gradients, the last of them that of " + parameters[last].name;
  }
  return text;
}

}  // namespace volvelle
