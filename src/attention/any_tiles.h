#pragma once

#include <variant>

#include "attention/paged_tiles.h"
#include "attention/resolved.h"
#include "attention/tile_source.h"

namespace volvelle {

/// The tile source of a problem, held in place: the caller's views or a cache's pages.
template <class T>
class AnyTiles {
 public:
  explicit AnyTiles(const ResolvedAttention& problem) : tiles_(made(problem)) {}
  AnyTiles(const AnyTiles&) = delete;
  AnyTiles& operator=(const AnyTiles&) = delete;

  const TileSource<T>& source() const {
    return *std::visit([](const auto& own) -> const TileSource<T>* { return &own; }, tiles_);
  }

 private:
  using Held = std::variant<StridedTiles<T>, PagedTiles<T>>;
  static Held made(const ResolvedAttention& problem) {
    if (problem.paged != nullptr) return PagedTiles<T>(problem);
    return StridedTiles<T>(problem);
  }

  Held tiles_;
};

}  // namespace volvelle
