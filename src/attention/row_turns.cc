#include "attention/row_turns.h"

#include "attention/oracle_terms.h"
#include "base/aligned_memory.h"
#include "base/kept_by_thread.h"

namespace volvelle {
namespace {

// One position's cosines and sines in the type of the arithmetic.
struct TableWorkspace {
  Workspace row;
};

kernels::RotatedType stored_as(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return kernels::RotatedType::float64;
    case DType::float16:
      return kernels::RotatedType::float16;
    case DType::bfloat16:
      return kernels::RotatedType::bfloat16;
    default:
      return kernels::RotatedType::float32;
  }
}

std::int64_t bytes_of(DType dtype, std::int64_t count) {
  return count * static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

RowTurns::RowTurns(const ResolvedAttention& problem, TurnedRows which)
    : problem_(problem),
      which_(which),
      tables_(which == TurnedRows::queries ? problem.rotary.query : problem.rotary.key),
      given_((which == TurnedRows::queries ? problem.query_positions : problem.key_positions)
                 .present) {
  const DType computing = problem.dtype == DType::float64 ? DType::float64 : DType::float32;
  const bool unbroken = tables_.cosines.stride[3] == 1 && tables_.sines.stride[3] == 1;
  direct_ = tables_.cosines.dtype == computing && (unbroken || problem.rotary.pairs == 1);
}

std::int64_t RowTurns::position(std::int64_t b, std::int64_t token) const {
  return which_ == TurnedRows::queries ? query_position(problem_, b, token)
                                       : key_position(problem_, b, token);
}

const void* RowTurns::table_row(const Strided4& table, std::int64_t b, std::int64_t position,
                                void* room) const {
  const std::int64_t first = table.offset(b, 0, position, 0);
  if (direct_) return static_cast<const char*>(table.data) + bytes_of(table.dtype, first);
  for (std::int64_t i = 0; i < problem_.rotary.pairs; ++i) {
    const double value = element(table, first + i * table.stride[3]);
    if (problem_.dtype == DType::float64) {
      static_cast<double*>(room)[i] = value;
    } else {
      static_cast<float*>(room)[i] = static_cast<float>(value);
    }
  }
  return room;
}

void RowTurns::run(std::int64_t b, std::int64_t first, std::int64_t count, TurnDirection direction,
                   const RowPlaces& places) const {
  const ResolvedRotary& rotary = problem_.rotary;
  kernels::RotatedRows rows;
  rows.width = problem_.width;
  rows.pairs = rotary.pairs;
  rows.interleaved = rotary.pairing == RotaryPairing::interleaved;
  rows.back = direction == TurnDirection::back;
  const auto turn = kernels::rotate_kernels().turn[static_cast<int>(stored_as(places.dtype))];
  const auto point_at = [&](std::int64_t n) {
    rows.x = static_cast<const char*>(places.from) + bytes_of(places.dtype, n * places.from_token);
    rows.y = static_cast<char*>(places.to) + bytes_of(places.dtype, n * places.to_token);
  };
  char* room = nullptr;
  if (!direct_) {
    room = static_cast<char*>(kept_by_thread<TableWorkspace>().row.at_least(
        static_cast<std::size_t>(2 * rotary.pairs) * sizeof(double)));
  }
  if (count > 0 && direct_ && !given_ && places.heads == 1) {  // all of them in one go
    const std::int64_t p = position(b, first);
    point_at(0);
    rows.rows = count;
    rows.x_stride = places.from_token;
    rows.y_stride = places.to_token;
    rows.cosines = table_row(tables_.cosines, b, p, room);
    rows.sines = table_row(tables_.sines, b, p, room);
    rows.cosine_stride = tables_.cosines.stride[2];
    rows.sine_stride = tables_.sines.stride[2];
    turn(rows);
    return;
  }
  rows.rows = places.heads;
  rows.x_stride = places.from_head;
  rows.y_stride = places.to_head;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t p = position(b, first + n);
    point_at(n);
    rows.cosines = table_row(tables_.cosines, b, p, room);
    rows.sines = table_row(tables_.sines, b, p,
                           room + static_cast<std::size_t>(rotary.pairs) * sizeof(double));
    turn(rows);
  }
}

}  // namespace volvelle
