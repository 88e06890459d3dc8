#include "check/rotary_faults.h"

#include <cmath>

#include "attention/oracle_terms.h"
#include "attention/rotary_rows.h"
#include "check/turn_tables.h"

namespace volvelle {
namespace {

using Problem = AttentionProblem;
using Resolved = ResolvedAttention;

std::string text(std::int64_t n) { return std::to_string(n); }

// Positions that the problem's rows stand at, from 0: as many rows as a table needs.
std::int64_t rows_needed(const Resolved& r) {
  std::int64_t last = 0;
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t i = 0; i < r.queries; ++i) last = std::max(last, query_position(r, b, i));
    for (std::int64_t j = 0; r.rotary.key.present && j < r.keys; ++j) {
      last = std::max(last, key_position(r, b, j));
    }
  }
  return last + 1;
}

void use(FaultCandidate& candidate, MadeTables made) {
  RotaryTurn& turn = candidate.problem.rotary;
  turn.cosines = made.cosines.view();
  turn.sines = made.sines.view();
  turn.key_cosines = turn.key_sines = View();
  candidate.owned.push_back(std::move(made.cosines));
  candidate.owned.push_back(std::move(made.sines));
}

// Frequencies base^(-2i/width) for `pairs` pairs.
MadeTables plain_tables(const Resolved& r, double base, std::int64_t pairs, std::int64_t width) {
  return tables_of(rows_needed(r), pairs, [=](std::int64_t i) {
    return std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(width));
  });
}

// Tables of one kind, for queries and keys alike, that turn by the powers of a base.
std::optional<double> plain_base(const Problem& p) {
  if (!p.rotary || p.rotary.key_cosines) return {};
  return base_of(p.rotary.cosines, p.rotary.sines);
}

void other_bases(const Problem& p, const Resolved& r, FaultCollector&& c) {
  if (!p.rotary || p.rotary.key_cosines) return;
  const std::optional<double> base = plain_base(p);
  for (const double other : {1e4, 5e5, 1e6}) {
    if (base && std::fabs(*base - other) < 1e-2 * other) continue;
    use(c.add("with frequencies from the base " + fault_number(other) +
              (base ? ", not " + fault_number(*base) : ", unscaled")),
        plain_tables(r, other, r.rotary.pairs, 2 * r.rotary.pairs));
  }
  if (!base) return;
  const std::int64_t turned = 2 * r.rotary.pairs;
  const auto with_exponents = [&](std::int64_t width, const char* of) {
    if (width == turned) return;
    use(c.add("with the frequencies' exponents over " + std::string(of) + "=" + text(width) +
              ", not over the " + text(turned) + " columns that turn"),
        plain_tables(r, *base, r.rotary.pairs, width));
  };
  with_exponents(r.width, "the head width D");
  if (r.heads > 1) with_exponents(r.heads * r.width, "the model width H*D");
}

void other_widths(const Problem& p, const Resolved& r, FaultCollector&& c) {
  const std::optional<double> base = plain_base(p);
  if (!base) return;
  for (const std::int64_t width : {r.width / 2 * 2, r.width / 4 * 2, r.width / 8 * 2}) {
    if (width < 2 || width == 2 * r.rotary.pairs) continue;
    use(c.add("with " + text(width) + " of " + text(r.width) + " columns turned, not " +
              text(2 * r.rotary.pairs)),
        plain_tables(r, *base, width / 2, width));
  }
}

void shifted_queries(const Problem& p, const Resolved&, FaultCollector&& c) {
  if (!p.rotary) return;
  for (const std::int64_t by : {1, -1}) {
    FaultCandidate& candidate = c.add(std::string("with query positions one too ") +
                                      (by > 0 ? "large" : "small") + " for their turns");
    const RotaryTurn& given = p.rotary;
    const View cosines = given.key_cosines ? given.key_cosines : given.cosines;
    const View sines = given.key_cosines ? given.key_sines : given.sines;
    use(candidate, shifted(given.cosines, given.sines, by));
    candidate.problem.rotary.key_cosines = cosines;
    candidate.problem.rotary.key_sines = sines;
  }
}

bool reads_positions_otherwise(const Problem& p) {
  return p.slopes || p.bias_table || p.bucket_table || p.relative_keys || p.relative_queries ||
         p.relative_values;
}

// Positions of the last `count` of `length` tokens from 0, of those before as they are.
Tensor from_zero(const Resolved& r, std::int64_t length, std::int64_t count) {
  Tensor positions(DType::int64, {r.batch, length});
  std::int64_t* at = positions.data<std::int64_t>();
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t n = 0; n < length; ++n) {
      const std::int64_t fresh = n - (length - count);
      *at++ = fresh >= 0 ? fresh : key_position(r, b, n);
    }
  }
  return positions;
}

void counted_from_zero(const Problem& p, const Resolved& r, FaultCollector&& c) {
  if (!p.rotary || reads_positions_otherwise(p) || r.queries == 0) return;
  FaultCandidate& queries = c.add("with queries turned from position 0, keys from their own");
  queries.owned = {from_zero(r, r.queries, r.queries)};
  queries.problem.query_positions = queries.owned[0].view();
  if (!r.rotary.key.present || r.queries >= r.keys) return;
  FaultCandidate& both = c.add("with the queries and the last T=" + text(r.queries) +
                               " keys turned from position 0, as if each call began anew");
  both.owned = {from_zero(r, r.queries, r.queries), from_zero(r, r.keys, r.queries)};
  both.problem.query_positions = both.owned[0].view();
  both.problem.key_positions = both.owned[1].view();
}

void turned_values(const Problem& p, const Resolved& r, FaultCollector&& c) {
  if (!p.rotary || 2 * r.rotary.pairs > r.value_width) return;
  Resolved keys = r;  // whose rows are the values
  keys.rotary.key = r.rotary.key.present ? r.rotary.key : r.rotary.query;
  keys.width = r.value_width;
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t j = 0; j < r.keys; ++j) {
      const std::int64_t position = key_position(r, b, j);
      if (position < 0 || position >= keys.rotary.key.length) return;
    }
  }
  Tensor values = converted(p.v, DType::float64);
  for (std::int64_t plane = 0; plane < r.batch * r.key_heads; ++plane) {
    turn_rows(keys, {TurnedRows::keys, plane / r.key_heads, 0, r.keys}, TurnDirection::forward,
              values.data<double>() + plane * r.keys * r.value_width);
  }
  FaultCandidate& turned = c.add("with the values turned as the keys are: values are not turned");
  turned.owned = {converted(values.view(), p.v.dtype())};
  turned.problem.v = turned.owned[0].view();
}

const FaultEntry kRotaryFaults[] = {
    {{"rotary_ignored", "queries and keys were not turned"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (p.rotary) c.add("without turning queries and keys").problem.rotary = {};
     }},
    {{"rotary_pairing", "split-half pairs for interleaved ones, or the reverse"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!p.rotary || r.rotary.pairs < 2) return;
       const bool halves = p.rotary.pairing == RotaryPairing::split_half;
       c.add(halves ? "with interleaved pairs (2i, 2i+1), not split halves (i, i+r/2)"
                    : "with split halves (i, i+r/2), not interleaved pairs (2i, 2i+1)")
           .problem.rotary.pairing =
           halves ? RotaryPairing::interleaved : RotaryPairing::split_half;
     }},
    {{"rotary_direction", "turned the other way round"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.rotary || p.rotary.key_cosines) return;
       FaultCandidate& turned =
           c.add("with turns the other way round: sines with their sign turned");
       Tensor sines = converted(p.rotary.sines, DType::float64);
       for (std::int64_t n = 0; n < sines.size(); ++n) sines.data<double>()[n] *= -1;
       use(turned, {converted(p.rotary.cosines, DType::float64), std::move(sines)});
     }},
    {{"rotary_base", "frequencies of another base, or over another width"}, other_bases},
    {{"rotary_width", "more or fewer columns turned"}, other_widths},
    {{"rotary_offset", "queries turned one position off"}, shifted_queries},
    {{"rotary_from_zero", "positions that start anew at each call"}, counted_from_zero},
    {{"keys_not_turned", "only the queries were turned"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.rotary || p.rotary.keys_are_turned) return;
       c.add("with the queries turned and not the keys").problem.rotary.keys_are_turned = true;
     }},
    {{"queries_not_turned", "only the keys were turned"},
     [](const Problem& p, const Resolved& r, FaultCollector&& c) {
       if (!p.rotary || p.rotary.keys_are_turned) return;
       FaultCandidate& turned = c.add("with the keys turned and not the queries");
       const RotaryTurn& given = p.rotary;
       use(turned, tables_of(rows_needed(r), r.rotary.pairs, [](std::int64_t) { return 0.0; }));
       turned.problem.rotary.key_cosines = given.key_cosines ? given.key_cosines : given.cosines;
       turned.problem.rotary.key_sines = given.key_cosines ? given.key_sines : given.sines;
     }},
    {{"keys_turned_twice", "keys that were turned before were turned again"},
     [](const Problem& p, const Resolved&, FaultCollector&& c) {
       if (!p.rotary || !p.rotary.keys_are_turned) return;
       c.add("with keys turned that were turned before").problem.rotary.keys_are_turned = false;
     }},
    {{"values_turned", "values were turned, too"}, turned_values},
};

}  // namespace

std::span<const FaultEntry> rotary_faults() { return kRotaryFaults; }

}  // namespace volvelle
