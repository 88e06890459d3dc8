// What positions mean for a model's weights: their pairing, and their gradients.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "check/positions/measurements.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle::positions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kPairing = "pairing";

bool is_turning(const PositionText& text) {
  return position_scheme(text.scheme).door == PositionDoor::turn;
}

RotaryPairing pairing_of(const PositionText& text) {
  for (const PositionSetting& setting : text.settings) {
    if (setting.key != kPairing) continue;
    return setting.value == "interleaved" ? RotaryPairing::interleaved : RotaryPairing::split_half;
  }
  return RotaryPairing::split_half;
}

RotaryPairing other(RotaryPairing pairing) {
  return pairing == RotaryPairing::interleaved ? RotaryPairing::split_half
                                               : RotaryPairing::interleaved;
}

// The scheme of all layers with each pairing exchanged, "2: rotary(...) | ...".
std::string with_other_pairing(const std::vector<PositionText>& layers) {
  std::string all;
  for (PositionText text : layers) {
    if (is_turning(text)) {
      const char* const now =
          pairing_of(text) == RotaryPairing::interleaved ? "split-half" : "interleaved";
      std::erase_if(text.settings,
                    [](const PositionSetting& setting) { return setting.key == kPairing; });
      text.settings.push_back({kPairing, now});
    }
    all += (all.empty() ? "1: " : " | 1: ") + to_text(text);
  }
  return all;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.bytes() == b.bytes() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

Tensor random_labels(const PositionSubject& subject, std::int64_t batch, std::int64_t tokens) {
  return subject.ids(batch, tokens, 10);
}

double loss_of(const PositionSubject& subject, const LanguageModel& model, const View& ids,
               const View& labels, const ForwardOptions& how) {
  const NoGrad no_grad;
  const Variable logits(subject.operation.logits(model, ids, how));
  return element_as_double(cross_entropy(logits, labels).view(), 0);
}

}  // namespace

double pairing_error(const PositionSubject& subject) {
  const LanguageModel& model = subject.model();
  const std::vector<PositionText> layers = positions_by_layer(subject.models.scheme(), kLayers);
  const auto twin = twin_of(model, with_other_pairing(layers), true);
  double worst = 0;
  for (const NamedParameter& parameter : twin->parameters()) {
    if (parameter.name.find("in_proj") == std::string::npos) continue;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const PositionText& text = layers[static_cast<std::size_t>(layer)];
      const std::string prefix = "layers." + std::to_string(layer) + '.';
      if (parameter.name.find(prefix) == std::string::npos || !is_turning(text)) continue;
      const RotaryPairing from = pairing_of(text), to = other(from);
      const PackedHeads heads{.heads = kHeads,
                              .key_heads = kKeyHeads,
                              .head_width = kHeadWidth,
                              .columns = turning_columns(text)};
      const Tensor own = copy_of(parameter.variable.view());
      const Tensor there = subject.operation.convert_pairing(own.view(), from, to, heads);
      const Tensor back = subject.operation.convert_pairing(there.view(), to, from, heads);
      if (!same_bytes(back, own)) worst = kInfinity;
      Variable(parameter.variable).replace(there);
    }
  }
  const Tensor ids = subject.ids(2, 11, 9);
  return std::max(worst, distance(subject.logits(*twin, ids.view()).view(),
                                  subject.logits(model, ids.view()).view()));
}

// Each parameter moved along a direction of its own: the central difference of the loss beside the
// gradient's share of that direction, relative to the gradient's size.
double gradient_error(const PositionSubject& subject) {
  LanguageModel& model = subject.model({.causal = true, .dtype = DType::float64});
  const Tensor ids = subject.ids(2, 7, 11), labels = random_labels(subject, 2, 7);
  Tensor places(DType::int64, Shape{7});
  const std::int64_t gaps[] = {0, 1, 2, 5, 6, 11, 12};
  std::copy(std::begin(gaps), std::end(gaps), places.data<std::int64_t>());
  ForwardOptions how;
  how.threads = subject.threads;
  how.tokens.positions = places.view();
  const std::vector<Tensor> gradients =
      subject.operation.gradients(model, ids.view(), labels.view(), how);
  const std::vector<NamedParameter> parameters = model.parameters();
  if (gradients.size() != parameters.size()) return kInfinity;
  RandomNumbers draws = subject.draws(12);
  constexpr double kStep = 1e-5;
  double worst = 0;
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    Variable variable = parameters[n].variable;
    if (!gradients[n] || gradients[n].shape() != variable.shape()) return kInfinity;
    const Tensor start = copy_of(variable.view());
    Tensor direction(DType::float64, variable.shape());
    double size = 0, along = 0;
    for (std::int64_t i = 0; i < direction.size(); ++i) {
      const double u = direction.data<double>()[i] = draws.normal();
      const double g = gradients[n].data<double>()[i];
      along += u * g;
      size += g * g;
    }
    const auto moved = [&](double by) {
      Tensor values(DType::float64, variable.shape());
      for (std::int64_t i = 0; i < values.size(); ++i) {
        values.data<double>()[i] = start.data<double>()[i] + by * direction.data<double>()[i];
      }
      variable.replace(values);
      return loss_of(subject, model, ids.view(), labels.view(), how);
    };
    const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    variable.replace(start);
    // A parameter with nothing to gain (a key's bias) has rounding for a gradient.
    worst = std::max(worst, std::fabs(difference - along) / (std::sqrt(size) + 1e-3));
  }
  return worst;
}

}  // namespace volvelle::positions
