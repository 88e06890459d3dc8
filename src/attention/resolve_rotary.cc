#include "attention/resolve_rotary.h"

#include <string>

#include "attention/oracle_terms.h"
#include "attention/resolve_layout.h"

namespace volvelle {
namespace {

// A table of cosines and the sines that go with it, or none of them.
struct GivenTables {
  const char *cosine_name, *sine_name;
  const View &cosines, &sines;
};

void check_both(const GivenTables& given) {
  if (static_cast<bool>(given.cosines) == static_cast<bool>(given.sines)) return;
  const bool has_cosines = static_cast<bool>(given.cosines);
  refuse(std::string(has_cosines ? given.cosine_name : given.sine_name) + " is given without " +
         (has_cosines ? given.sine_name : given.cosine_name) + "; a turn needs both");
}

void check_table(const NamedView& table) {
  const DType dtype = table.view.dtype();
  if (dtype != DType::float32 && dtype != DType::float64) {
    refuse(std::string(table.name) + " is " + std::string(name_of(dtype)) +
           "; tables of turns are float32 or float64, also for half-precision problems");
  }
  check_memory(table);
}

Strided4 laid_out(const View& table) {
  Strided4 laid;
  laid.data = table.data();
  laid.dtype = table.dtype();
  laid.present = true;
  const int rank = table.rank();
  const auto stride = [&](int axis) {
    return table.shape()[axis] == 1 ? 0 : table.strides()[axis];
  };
  if (rank == 3) laid.stride[0] = stride(0);
  laid.stride[2] = stride(rank - 2);
  laid.stride[3] = stride(rank - 1);
  return laid;
}

TurnTables tables_of(const GivenTables& given, const ResolvedAttention& r, std::int64_t& pairs) {
  const NamedView cosines{given.cosine_name, given.cosines};
  const NamedView sines{given.sine_name, given.sines};
  check_table(cosines);
  check_table(sines);
  const View& table = given.cosines;
  const int rank = table.rank();
  const bool fits =
      rank == 2 || (rank == 3 && (table.shape()[0] == r.batch || table.shape()[0] == 1));
  if (!fits) {
    refuse(described(cosines.name, table) +
           " must have shape (P, r/2), or (B, P, r/2) with B = " + std::to_string(r.batch));
  }
  if (given.sines.shape() != table.shape()) {
    refuse(described(sines.name, given.sines) + " must have the shape of " +
           described(cosines.name, table));
  }
  if (given.sines.dtype() != table.dtype()) {
    refuse(std::string(sines.name) + " is " + std::string(name_of(given.sines.dtype())) + ", " +
           cosines.name + " " + std::string(name_of(table.dtype())) + "; both must be of one type");
  }
  pairs = table.shape()[rank - 1];
  if (pairs < 1 || pairs > r.width / 2) {
    refuse(described(cosines.name, table) + " turns " + std::to_string(pairs) +
           " pairs, r = " + std::to_string(2 * pairs) +
           " columns; r must be between 2 and D = " + std::to_string(r.width));
  }
  TurnTables laid;
  laid.cosines = laid_out(table);
  laid.sines = laid_out(given.sines);
  laid.length = table.shape()[rank - 2];
  laid.present = true;
  return laid;
}

// Which rows a table turns: what messages and positions need.
struct Turned {
  const char *rows, *axis, *positions;
  const char* table;
  std::int64_t length;  // of the table
};

[[noreturn]] void refuse_position(const Turned& turned, std::int64_t b, std::int64_t i,
                                  std::int64_t position, bool given) {
  std::string text = std::string(turned.rows) + " " + std::to_string(i) + " of batch row " +
                     std::to_string(b) + " stands at position " + std::to_string(position) +
                     ", but " + turned.table +
                     " has positions 0 to P-1 with P = " + std::to_string(turned.length);
  if (position >= 0) {
    text += "; give a longer table";
  } else if (given) {
    text += std::string("; ") + turned.positions + " must not be negative where rows turn";
  } else {
    text += std::string("; give ") + turned.positions +
            ", a query_offset, or alignment top_left where queries begin with the keys";
  }
  refuse(text);
}

void check_rows(const Turned& turned, const Strided2& given, const ResolvedAttention& r,
                std::int64_t count) {
  const bool queries = turned.rows[0] == 'q';
  const auto look = [&](std::int64_t b, std::int64_t i) {
    const std::int64_t position = queries ? query_position(r, b, i) : key_position(r, b, i);
    if (position < 0 || position >= turned.length) {
      refuse_position(turned, b, i, position, given.present);
    }
  };
  if (count == 0) return;
  for (std::int64_t b = 0; b < r.batch; ++b) {
    if (!given.present) {  // they rise by one
      look(b, 0);
      look(b, count - 1);
      continue;
    }
    if (b > 0 && given.stride[0] == 0) return;
    for (std::int64_t i = 0; i < count; ++i) look(b, i);
  }
}

void refuse_settings_alone(const RotaryTurn& turn) {
  const char* name = turn.sines                                  ? "rotary.sines"
                     : turn.key_cosines                          ? "rotary.key_cosines"
                     : turn.key_sines                            ? "rotary.key_sines"
                     : turn.pairing != RotaryPairing::split_half ? "rotary.pairing"
                     : turn.keys_are_turned                      ? "rotary.keys_are_turned"
                                                                 : nullptr;
  if (name == nullptr) return;
  refuse(std::string(name) + " is set without rotary.cosines (P, r/2); give the tables or none");
}

}  // namespace

void lay_out_rotary(const AttentionProblem& problem, ResolvedAttention& r) {
  const RotaryTurn& turn = problem.rotary;
  if (!turn) return refuse_settings_alone(turn);
  const GivenTables both{"rotary.cosines", "rotary.sines", turn.cosines, turn.sines};
  const GivenTables own{"rotary.key_cosines", "rotary.key_sines", turn.key_cosines, turn.key_sines};
  check_both(both);
  check_both(own);
  ResolvedRotary& rotary = r.rotary;
  rotary.pairing = turn.pairing;
  rotary.query = tables_of(both, r, rotary.pairs);
  rotary.key = rotary.query;
  if (turn.key_cosines) {
    std::int64_t pairs = 0;
    rotary.key = tables_of(own, r, pairs);
    if (pairs != rotary.pairs) {
      refuse(described("rotary.key_cosines", turn.key_cosines) + " turns " + std::to_string(pairs) +
             " pairs, " + described("rotary.cosines", turn.cosines) + " " +
             std::to_string(rotary.pairs) + "; queries and keys must turn the same columns");
    }
  }
  check_rows({"query", "T", "query_positions", "rotary.cosines", rotary.query.length},
             r.query_positions, r, r.queries);
  if (turn.keys_are_turned) {
    rotary.key = {};
    return;
  }
  check_rows({"key", "S", "key_positions",
              turn.key_cosines ? "rotary.key_cosines" : "rotary.cosines", rotary.key.length},
             r.key_positions, r, r.keys);
}

}  // namespace volvelle
