#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random_numbers.h"
#include "volvelle/check/position_properties.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle::positions {

// The model that every scheme is checked in: small, with grouped heads and two layers, so that a
// fault of one layer reaches what the next one keeps.
constexpr std::int64_t kLayers = 2, kWidth = 32, kHeads = 4, kKeyHeads = 2, kHeadWidth = 8;
constexpr std::int64_t kVocabulary = 23;

/// Which of a scheme's models.
struct ModelKind {
  bool causal = true;
  DType dtype = DType::float32;
  auto operator<=>(const ModelKind&) const = default;
};

/// What is known of a scheme by its facts, over all layers.
struct SchemeTraits {
  bool any = false;             ///< tells positions at all
  bool relative = true;         ///< a shift of all positions changes nothing
  bool turns = false;           ///< turns queries and keys
  bool partial = false;         ///< leaves columns of heads unturned
  bool learns = false;          ///< has parameters
  std::int64_t positions = -1;  ///< how many it has; -1: no end
};
SchemeTraits traits_of(const std::string& scheme);
/// How many columns of a head a scheme turns; all of them where it turns none.
std::int64_t turning_columns(const PositionText& text);

/// The models of one scheme, made when they are asked for; all have the same parameters.
class SchemeModels {
 public:
  SchemeModels(std::string scheme, std::uint64_t seed) : scheme_(std::move(scheme)), seed_(seed) {}

  LanguageModel& model(const ModelKind& kind);
  const std::string& scheme() const { return scheme_; }

 private:
  std::string scheme_;
  std::uint64_t seed_;
  std::map<ModelKind, std::unique_ptr<LanguageModel>> made_;
};

/// A model of another scheme or mask with the values of `from`, wherever it has a parameter of that
/// name and shape; those that it alone has are drawn.
std::unique_ptr<LanguageModel> twin_of(const LanguageModel& from, const std::string& scheme,
                                       bool causal);

/// Fills every parameter whose name has no namesake in `but`: weights and tables of positions large
/// enough that order shows in the logits.
void draw_parameters(LanguageModel& model, std::uint64_t seed, const LanguageModel* but = nullptr);

/// One scheme on which a property is measured, under an operation, sound or broken.
struct PositionSubject {
  const PositionOperation& operation;
  SchemeModels& models;
  const SchemeTraits& traits;
  std::uint64_t seed = 1;
  int threads = 0;

  LanguageModel& model(const ModelKind& kind = {}) const { return models.model(kind); }
  Tensor logits(const LanguageModel& of, const View& ids, const TokenPlaces& places = {},
                DType compute = DType::float32) const;
  RandomNumbers draws(std::uint64_t stream) const { return RandomNumbers(seed * 7919 + stream); }
  /// Token ids (B,T).
  Tensor ids(std::int64_t batch, std::int64_t tokens, std::uint64_t stream = 0) const;
};

/// The largest difference over the largest of the second's elements; infinite where a value is not
/// finite or shapes differ.
double distance(const View& a, const View& b);

/// first, first + 1, .. along each of `batch` rows, int64.
Tensor counted(std::int64_t batch, std::int64_t tokens, std::int64_t first = 0);
/// 0 where two results differ so that everybody would see it, else infinite: for schemes that state
/// that something does matter.
double unless_visible(double distance);

}  // namespace volvelle::positions
