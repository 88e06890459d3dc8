#pragma once

#include <optional>
#include <span>
#include <string>

namespace volvelle::cli {

/// How the tour prints.
struct TourStyle {
  std::optional<int> digits;  ///< behind the point; absent: what suits each figure
  int threads = 0;
};

/// A line of the tour's catalog.
struct TourPart {
  const char* name;
  const char* title;
  std::string (*text)(const TourStyle& style);
};

/// All parts, in the order they are shown.
std::span<const TourPart> tour_parts();

std::string attention_tour(const TourStyle& style);
std::string norms_tour(const TourStyle& style);
std::string sinusoidal_tour(const TourStyle& style);
std::string positions_tour(const TourStyle& style);
std::string rotary_tour(const TourStyle& style);

}  // namespace volvelle::cli
