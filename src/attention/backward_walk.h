#pragma once

#include <cstdint>
#include <optional>

#include "attention/backward_call.h"

namespace volvelle {

/// One task's pieces of a backward walk, carved out of memory of the call: a block of keys whose
/// gradients it gathers, and the group of queries that it meets them with.
template <class T>
class BackwardWalk {
 public:
  static std::size_t bytes(BackwardCall<T>& call);
  BackwardWalk(BackwardCall<T>& call, void* memory);

  /// Statistics of a group of queries, before any walk: log-sum-exp, delta, keys in sight.
  void prepare_group(std::int64_t b, std::int64_t h, std::int64_t group);

  /// Starts on a block of keys of key head g of row b.
  void open_keys(std::int64_t b, std::int64_t g, std::int64_t block);
  /// Meets it with a group of queries of head h, if they see any of it.
  void meet(std::int64_t h, std::int64_t group);
  /// Hands on what was gathered by offset for head h.
  void close_head(std::int64_t h);
  /// Stores the keys' gradients.
  void close_keys();

 private:
  explicit BackwardWalk(BackwardCall<T>& call) : call_(call) {}
  std::size_t carve(void* base);
  void open_group(std::int64_t group);
  void load_queries(int slot, std::int64_t query, int count);
  void load_bands(const Strided4& view, std::int64_t query, int count, std::int64_t width,
                  T* rows) const;
  bool finite_rows(int place, int count) const;
  void clear_rows(int slot, int count);
  void take_turn();
  void pass_turn(std::int64_t group);
  void meet_tile(std::int64_t from, std::int64_t to);
  void limit(int slot, kernels::TileStep<T>& tile);
  void meet_piece(int slot, const kernels::TileStep<T>& tile, std::int64_t tile_first, int row,
                  int vector);
  void add_query_grads(int slot, const kernels::BackwardStep<T>& step, int lane, bool finite);
  void add_relative_keys(int slot, const kernels::BackwardStep<T>& step, std::int64_t query,
                         int count, std::int64_t key, int lane);
  void add_bad_keys(const kernels::BackwardStep<T>& step, T* sums);
  void add_bad_queries(int slot, const kernels::BackwardStep<T>& step, std::int64_t key, int lane);
  void add_to_keys(std::int64_t tile_first);
  void store_query_grads(std::int64_t group);
  void store_turned_keys();

  BackwardCall<T>& call_;
  std::optional<PanelWalk<T>> walk_;
  std::int64_t b_ = 0, g_ = 0, h_ = 0, block_ = 0;
  std::int64_t first_key_ = 0, last_key_ = 0;
  std::int64_t plane_ = 0, group_ = 0;
  std::int64_t row_ = 0;  // of the group's first query among the call's statistics
  int panels_ = 0;
  bool my_turn_ = false;

  // Rows that are not finite are 0 among the packed rows; what they add is added cell by cell, so
  // that no query meets a key that it does not see, not even by a weight of 0.
  int bad_queries_ = 0;
  int* bad_query_ = nullptr;     // [group_queries]: place in the group
  bool* finite_keys_ = nullptr;  // [tiles of the block]
  bool* limited_ = nullptr;      // [panels]: some lanes take no part
  int* low_ = nullptr;           // [panels][2]: each vector met keys [low, high) of the tile
  int* high_ = nullptr;
  kernels::ProductPart<T>*weight_parts_ = nullptr, *grad_parts_ = nullptr;  // [2 * panels]
  T *query_rows_ = nullptr, *grad_rows_ = nullptr;       // [bands][group_queries][band]
  T* grad_lanes_ = nullptr;                              // [panels][E][panel]
  T *weights_ = nullptr, *score_grads_ = nullptr;        // [panels][kTileKeys][panel]
  T* cap_slopes_ = nullptr;                              // [kTileKeys][panel]
  T *first_ = nullptr, *last_ = nullptr;                 // [panel]
  T *query_sums_ = nullptr, *own_query_sums_ = nullptr;  // [panels][D][panel]
  T *key_sums_ = nullptr, *value_sums_ = nullptr;        // [bands][block_keys][band]
  T *tile_scratch_ = nullptr, *clean_keys_ = nullptr, *scratch_rows_ = nullptr;
  T* bias_scratch_ = nullptr;
  T* product_grads_ = nullptr;  // [RelativeKeys::kMost][panel]
  T* relative_sums_ = nullptr;  // [bands][reached vectors][band]
  OffsetSums offset_sums_;
  void* walk_memory_ = nullptr;
};

}  // namespace volvelle
