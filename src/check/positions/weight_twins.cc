// Conversions and gradients, broken.
#include "check/positions/twins.h"

namespace volvelle::positions {
namespace {

template <class Change>
PositionOperation with_gradients(const PositionOperation& sound, Change change) {
  PositionOperation twin = sound;
  twin.gradients = [sound, change](const LanguageModel& model, const View& ids, const View& labels,
                                   const ForwardOptions& how) {
    std::vector<Tensor> gradients = sound.gradients(model, ids, labels, how);
    const std::vector<NamedParameter> parameters = model.parameters();
    for (std::size_t n = 0; n < gradients.size(); ++n) {
      if (!gradients[n]) continue;
      gradients[n] = copy_of(gradients[n].view());
      change(parameters[n].name, gradients[n]);
    }
    return gradients;
  };
  return twin;
}

void scale_first(Tensor& gradient, std::int64_t count, double factor) {
  for (std::int64_t i = 0; i < count; ++i) gradient.data<double>()[i] *= factor;
}

}  // namespace

PositionOperation leave_pairing(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.convert_pairing = [](const View& rows, RotaryPairing, RotaryPairing, const PackedHeads&) {
    return copy_of(rows);
  };
  return twin;
}

PositionOperation convert_values_too(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.convert_pairing = [](const View& rows, RotaryPairing from, RotaryPairing to,
                            const PackedHeads& heads) {
    return with_pairing(rows, from, to,
                        {.heads = heads.heads + 2 * heads.key_heads,
                         .head_width = heads.head_width,
                         .columns = heads.columns});
  };
  return twin;
}

PositionOperation convert_whole_heads(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.convert_pairing = [sound](const View& rows, RotaryPairing from, RotaryPairing to,
                                 PackedHeads heads) {
    heads.columns = 0;
    return sound.convert_pairing(rows, from, to, heads);
  };
  return twin;
}

PositionOperation halve_query_gradients(const PositionOperation& sound) {
  return with_gradients(sound, [](const std::string& name, Tensor& gradient) {
    if (!name.ends_with("in_proj_weight")) return;
    scale_first(gradient, kHeads * kHeadWidth * kWidth, 0.5);
  });
}

PositionOperation drop_scheme_gradients(const PositionOperation& sound) {
  return with_gradients(sound, [](const std::string& name, Tensor& gradient) {
    if (name.find("positions") != std::string::npos) scale_first(gradient, gradient.size(), 0);
  });
}

}  // namespace volvelle::positions
