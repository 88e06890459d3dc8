#include "check/positions/twins.h"

#include <algorithm>

#include "check/positions/measurements.h"
#include "check/properties/setting.h"
#include "tensor/slice.h"
#include "volvelle/base/error.h"

namespace volvelle::positions {
namespace {

// One pass whose places were changed first. `change` gets the shape of ids and may keep arrays.
template <class Change>
PositionOperation placed(const PositionOperation& sound, Change change) {
  PositionOperation twin = sound;
  twin.logits = [sound, change](const LanguageModel& model, const View& ids, ForwardOptions how) {
    std::vector<Tensor> memory;
    change(ids.shape(), how.tokens, memory);
    return sound.logits(model, ids, how);
  };
  return twin;
}

// One pass through another model with the same values.
PositionOperation in_twin_model(const PositionOperation& sound, const std::string& scheme,
                                bool causal) {
  PositionOperation twin = sound;
  twin.logits = [sound, scheme, causal](const LanguageModel& model, const View& ids,
                                        const ForwardOptions& how) {
    const std::string own = scheme.empty() ? model.options().positions : scheme;
    return sound.logits(*twin_of(model, own, causal), ids, how);
  };
  return twin;
}

template <class Change>
void change_positions(TokenPlaces& places, std::vector<Tensor>& memory, Change change) {
  if (!places.positions) return;
  Tensor positions = converted(places.positions, DType::int64);
  for (std::int64_t i = 0; i < positions.size(); ++i) {
    std::int64_t& position = positions.data<std::int64_t>()[i];
    position = change(position, i);
  }
  memory.push_back(positions);
  places.positions = memory.back().view();
}

}  // namespace

PositionOperation ignore_positions(const PositionOperation& sound) {
  return placed(sound, [](const Shape&, TokenPlaces& places, std::vector<Tensor>&) {
    places.positions = {};
  });
}

// Of tokens that `shift_error` moves, those at odd places stay where they were.
PositionOperation leave_odd_tokens_behind(const PositionOperation& sound) {
  return placed(sound, [](const Shape&, TokenPlaces& places, std::vector<Tensor>& memory) {
    change_positions(places, memory, [](std::int64_t position, std::int64_t i) {
      return i % 2 == 1 ? position % kShift : position;
    });
  });
}

PositionOperation stand_all_at_0(const PositionOperation& sound) {
  return placed(sound, [](const Shape& shape, TokenPlaces& places, std::vector<Tensor>& memory) {
    memory.push_back(Tensor::zeros(DType::int64, shape));
    places.positions = memory.back().view();
  });
}

PositionOperation mask_causally(const PositionOperation& sound) {
  return in_twin_model(sound, "", true);
}

PositionOperation slip_in_sinusoids(const PositionOperation& sound) {
  return in_twin_model(sound, "sinusoidal", true);
}

PositionOperation count_padding(const PositionOperation& sound) {
  PositionOperation twin =
      placed(sound, [](const Shape& shape, TokenPlaces& places, std::vector<Tensor>& memory) {
        if (!places.lengths) return;
        memory.push_back(counted(shape[0], shape[1]));
        places.positions = memory.back().view();
      });
  return twin;
}

PositionOperation see_padding(const PositionOperation& sound) {
  return placed(sound, [](const Shape& shape, TokenPlaces& places, std::vector<Tensor>& memory) {
    if (!places.lengths) return;
    memory.push_back(positions_of_rows(places.lengths, shape[1], places.padding));
    places.positions = memory.back().view();
    places.lengths = {};
    places.padding = Padding::right;
  });
}

PositionOperation forget_segments(const PositionOperation& sound) {
  return placed(
      sound, [](const Shape&, TokenPlaces& places, std::vector<Tensor>&) { places.segments = {}; });
}

PositionOperation number_through(const PositionOperation& sound) {
  return placed(sound, [](const Shape& shape, TokenPlaces& places, std::vector<Tensor>& memory) {
    if (!places.segments) return;
    memory.push_back(counted(shape[0], shape[1]));
    places.positions = memory.back().view();
  });
}

// Where a scheme has an end: what is beyond stands at the last position.
PositionOperation stop_at_last_position(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.logits = [sound](const LanguageModel& model, const View& ids, ForwardOptions how) {
    const std::int64_t end = traits_of(model.options().positions).positions;
    std::vector<Tensor> memory;
    change_positions(how.tokens, memory, [end](std::int64_t position, std::int64_t) {
      return end < 0 ? position : std::min(position, end - 1);
    });
    return sound.logits(model, ids, how);
  };
  return twin;
}

PositionOperation end_at_64(const PositionOperation& sound) {
  return in_twin_model(sound, "learned(rows=64)", true);
}

// Positions held in bfloat16, as a model that is cast as a whole does.
PositionOperation round_positions(const PositionOperation& sound) {
  PositionOperation twin = sound;
  twin.logits = [sound](const LanguageModel& model, const View& ids, ForwardOptions how) {
    std::vector<Tensor> memory;
    if (how.compute == DType::bfloat16 && how.tokens.positions) {
      const Tensor rounded = converted(how.tokens.positions, DType::bfloat16);
      const std::int64_t end = traits_of(model.options().positions).positions;
      change_positions(how.tokens, memory, [&](std::int64_t, std::int64_t i) {
        const auto position = static_cast<std::int64_t>(element_as_double(rounded.view(), i));
        return end < 0 ? position : std::min(position, end - 1);
      });
    }
    return sound.logits(model, ids, how);
  };
  return twin;
}

}  // namespace volvelle::positions
