#include "studies/position_fault_list.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "studies/hand_pass.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/nn/stack.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

const char* applies(const FaultSubject&) { return nullptr; }

const char* where_something_turns(const FaultSubject& subject) {
  return subject.facts.door == PositionDoor::turn ? nullptr : "turns nothing";
}

const char* where_positions_are_used(const FaultSubject& subject) {
  return subject.facts.door == PositionDoor::none ? "uses no positions" : nullptr;
}

Variable right_logits(const FaultSubject& subject) {
  return subject.model.forward(subject.ids.view(), {.threads = 1});
}

/// The same weights in a model whose scheme has other settings.
Variable with_settings(const FaultSubject& subject, std::vector<PositionSetting> changed) {
  LanguageModelOptions options = subject.model.options();
  PositionText text = parse_positions(options.positions);
  for (PositionSetting& setting : changed) {
    std::erase_if(text.settings,
                  [&](const PositionSetting& other) { return other.key == setting.key; });
    text.settings.push_back(std::move(setting));
  }
  options.positions = to_text(text);
  LanguageModel other(options);
  share_values(other, subject.model);
  return other.forward(subject.ids.view(), {.threads = 1});
}

std::string setting_of(const FaultSubject& subject, const std::string& key,
                       const std::string& otherwise) {
  for (const PositionSetting& setting :
       parse_positions(subject.model.options().positions).settings) {
    if (setting.key == key) return setting.value;
  }
  return otherwise;
}

// A decoding loop that gives each new token the position 0, as if it were alone.
FaultLogits steps_from_0(const FaultSubject& subject) {
  const std::vector<std::int64_t> zeros(static_cast<std::size_t>(subject.ids.shape()[1]), 0);
  const View all_0(zeros.data(), {subject.ids.shape()[1]});
  return {right_logits(subject),
          hand_pass(subject.model, subject.ids.view(),
                    {.token_positions = all_0, .query_positions = all_0, .key_positions = all_0})};
}

// The same for what goes into the cache only.
FaultLogits keys_from_0(const FaultSubject& subject) {
  const std::vector<std::int64_t> zeros(static_cast<std::size_t>(subject.ids.shape()[1]), 0);
  const View all_0(zeros.data(), {subject.ids.shape()[1]});
  return {right_logits(subject),
          hand_pass(subject.model, subject.ids.view(), {.key_positions = all_0})};
}

const char* where_keys_have_positions(const FaultSubject& subject) {
  switch (subject.facts.door) {
    case PositionDoor::none:
      return "uses no positions";
    case PositionDoor::tokens:
      return "keys have no positions of their own";
    default:
      return nullptr;
  }
}

FaultLogits other_pairing(const FaultSubject& subject) {
  const std::string pairing = setting_of(subject, "pairing", "split-half");
  return {right_logits(subject),
          with_settings(subject,
                        {{"pairing", pairing == "split-half" ? "interleaved" : "split-half"}})};
}

FaultLogits values_turned(const FaultSubject& subject) {
  return {right_logits(subject),
          hand_pass(subject.model, subject.ids.view(), {.values_turned = true})};
}

// base^(-2i/C) in place of base^(-2i/D): the same as a base of base^(D/C).
FaultLogits frequencies_of_the_model(const FaultSubject& subject) {
  const StackOptions& stack = subject.model.stack().options();
  const double base = std::stod(setting_of(subject, "base", "10000"));
  const double head =
      static_cast<double>(stack.head_width != 0 ? stack.head_width : stack.width / stack.heads);
  const double changed = std::pow(base, head / static_cast<double>(stack.width));
  return {right_logits(subject), with_settings(subject, {{"base", shortest(changed)}})};
}

// A quarter of each row is padding at the left; the wrong way counts it.
FaultLogits padding_counted(const FaultSubject& subject) {
  const std::int64_t rows = subject.ids.shape()[0], tokens = subject.ids.shape()[1];
  const std::int64_t padding = std::max<std::int64_t>(1, tokens / 4);
  Tensor ids = Tensor::zeros(DType::int64, {rows, tokens});
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(subject.ids.data<std::int64_t>() + row * tokens, tokens - padding,
                ids.data<std::int64_t>() + row * tokens + padding);
  }
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows), tokens - padding);
  std::vector<std::int64_t> counted(static_cast<std::size_t>(tokens));
  std::iota(counted.begin(), counted.end(), 0);
  TokenPlaces places{.lengths = View(lengths.data(), {rows}), .padding = Padding::left};
  // Back at the left, so that logits stand where the tokens do.
  const auto moved = [&](const Variable& logits) {
    Tensor left = Tensor::zeros(DType::float32, logits.shape());
    const std::int64_t vocabulary = logits.shape()[2];
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(logits.value().data<float>() + (row * tokens + padding) * vocabulary,
                  (tokens - padding) * vocabulary, left.data<float>() + row * tokens * vocabulary);
    }
    return Variable(left);
  };
  const Variable right = subject.model.forward(ids.view(), {.threads = 1, .tokens = places});
  places.positions = View(counted.data(), {tokens});
  const Variable wrong = subject.model.forward(ids.view(), {.threads = 1, .tokens = places});
  return {moved(right), moved(wrong), tokens - padding};
}

FaultLogits mask_after_softmax(const FaultSubject& subject) {
  return {right_logits(subject),
          hand_pass(subject.model, subject.ids.view(), {.mask = HandMask::after_softmax})};
}

FaultLogits diagonal_masked(const FaultSubject& subject) {
  return {right_logits(subject),
          hand_pass(subject.model, subject.ids.view(), {.mask = HandMask::without_diagonal})};
}

constexpr std::array kFaults{
    PositionFault{"steps from 0", "a decoding loop gives every new token the position 0",
                  where_positions_are_used, steps_from_0},
    PositionFault{"keys from 0", "keys enter the cache at 0; queries stand where they do",
                  where_keys_have_positions, keys_from_0},
    PositionFault{"pairing swapped", "split-half for interleaved, or the reverse",
                  where_something_turns, other_pairing},
    PositionFault{"values turned", "values are turned like keys", where_something_turns,
                  values_turned},
    PositionFault{"model's width", "frequencies go by the model width, not the head's",
                  where_something_turns, frequencies_of_the_model},
    PositionFault{"padding counted", "positions count the padding at the left",
                  where_positions_are_used, padding_counted},
    PositionFault{"mask after softmax", "later keys take their weight, then are made 0", applies,
                  mask_after_softmax},
    PositionFault{"diagonal masked", "no token sees itself", applies, diagonal_masked},
};

}  // namespace

std::span<const PositionFault> position_faults() { return kFaults; }

}  // namespace volvelle
