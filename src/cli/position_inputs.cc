#include "cli/position_inputs.h"

#include <algorithm>
#include <numeric>

#include "cli/position_reach.h"
#include "cli/view_axes.h"

namespace volvelle::cli {
namespace {

constexpr const char* kTables[] = {"rotary_cosines", "rotary_sines", "rotary_key_cosines",
                                   "rotary_key_sines"};

}  // namespace

PositionInputs::PositionInputs(const PositionOptions& options, ArrayPool& pool)
    : options_(options), pool_(pool), text_(options.text()) {}

void PositionInputs::add_arrays() {
  pool_.add("positions", options_.positions, "--positions");
  pool_.add("key_positions", options_.key_positions, "--key-positions");
  pool_.add("position_table", options_.table, "--position-table");
  pool_.add("relative_keys", options_.relative_keys, "--relative-keys");
  pool_.add("relative_queries", options_.relative_queries, "--relative-queries");
  pool_.add("relative_values", options_.relative_values, "--relative-values");
}

std::string PositionInputs::words() const {
  std::string words = text_;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
  if (pool_.has("rotary_cosines")) add("rotary by tables, " + options_.rotary.value_or(""));
  if (options_.turned_keys) add("keys turned before");
  for (const char* name : {"relative_keys", "relative_queries", "relative_values"}) {
    if (!pool_.has(name)) continue;
    std::string spaced = name;
    spaced[8] = ' ';
    add(spaced);
  }
  return words;
}

bool PositionInputs::adds_to_tokens() const {
  return !text_.empty() &&
         position_scheme(parse_positions(text_).scheme).door == PositionDoor::tokens;
}

// What a scheme of the first door learns comes from the request.
void PositionInputs::learn(const PositionScheme& scheme) {
  const std::vector<NamedParameter> parameters = scheme.parameters();
  if (parameters.empty()) {
    pool_.forbid("position_table", "--scheme " + text_);
    return;
  }
  Variable table = parameters.front().variable;
  if (!pool_.has("position_table")) {
    throw UsageError("--scheme " + text_ + " adds vectors that are learned: --position-table, or " +
                     "'position_table' in INPUT, must give them, " + to_string(table.shape()));
  }
  const Tensor given = converted(pool_.bias("position_table"), table.dtype());
  if (given.shape() != table.shape()) {
    throw UsageError(pool_.source("position_table") + " is " + to_string(given.shape()) +
                     ", but --scheme " + text_ + " has " + to_string(table.shape()));
  }
  table.replace(given);
}

Tensor PositionInputs::with_positions(const Tensor& tokens, const PositionContext& context) {
  is_projected_ = true;
  if (!adds_to_tokens()) return tokens;
  const std::shared_ptr<PositionScheme> scheme = make_positions(text_, context);
  learn(*scheme);
  const std::int64_t count = tokens_of(tokens.view());
  check_range("positions");
  View positions = pool_.integer_rows("positions", tokens.rank() == 3 ? tokens.shape()[0] : 1);
  if (positions && tokens.rank() == 2 && positions.rank() == 2) positions = picked(positions, 0, 0);
  if (!positions) {
    Tensor by_index(DType::int64, Shape{count});
    std::iota(by_index.data<std::int64_t>(), by_index.data<std::int64_t>() + count, 0);
    positions = pool_.keep(by_index);
  }
  return scheme->add_to_tokens(Variable(tokens), positions).value();
}

void PositionInputs::enter(AttentionProblem& problem) {
  set_positions(problem, batch_of(problem.q));
  problem.relative_keys = pool_.bias("relative_keys");
  problem.relative_queries = pool_.bias("relative_queries");
  problem.relative_values = pool_.bias("relative_values");
  set_tables(problem);
  set_scheme(problem);
  if (!options_.turned_keys) return;
  if (!problem.rotary) {
    throw UsageError(
        "--turned-keys is about keys that rotary positions have turned; --rotary "
        "turns the queries");
  }
  problem.rotary.keys_are_turned = true;
}

// `positions` serve both sides where there are as many queries as keys.
void PositionInputs::set_positions(AttentionProblem& problem, std::int64_t batch) {
  for (const char* name : {"query_positions", "key_positions", "positions"}) check_range(name);
  problem.query_positions = pool_.integer_rows("query_positions", batch);
  problem.key_positions = pool_.integer_rows("key_positions", batch);
  if (!pool_.has("positions")) return;
  pool_.forbid("query_positions", pool_.source("positions"));
  const View given = pool_.integer_rows("positions", batch);
  problem.query_positions = given;
  if (problem.key_positions) return;
  const std::int64_t queries = tokens_of(problem.q), keys = tokens_of(problem.k);
  if (queries != keys) {
    throw UsageError(pool_.source("positions") + " serves queries and keys, but there are T=" +
                     std::to_string(queries) + " and S=" + std::to_string(keys) +
                     "; --key-positions says where the keys stand");
  }
  problem.key_positions = given;
}

// Attention refuses these as well, but tables as long as that would be made before.
void PositionInputs::check_range(const char* name) {
  if (!pool_.has(name)) return;
  const std::string beyond = position_beyond(pool_.integer_rows(name, 1));
  if (beyond.empty()) return;
  throw UsageError(pool_.source(name) + " holds " + beyond + "; positions must lie within +-2^30");
}

// Cosines and sines of the caller's own.
void PositionInputs::set_tables(AttentionProblem& problem) {
  RotaryTurn& rotary = problem.rotary;
  View* const places[] = {&rotary.cosines, &rotary.sines, &rotary.key_cosines, &rotary.key_sines};
  for (std::size_t i = 0; i < std::size(places); ++i) {
    const char* const name = kTables[i];
    if (!pool_.has(name)) continue;
    if (!options_.rotary) {
      throw UsageError(pool_.source(name) +
                       " needs --rotary split-half or interleaved: the table " +
                       "does not say how columns pair");
    }
    if (options_.has_settings()) {
      throw UsageError(pool_.source(name) +
                       " says by what positions turn, and so do the settings " +
                       "of --rotary; leave those out");
    }
    *places[i] = pool_.bias(name);
  }
  for (const char* const name : kTables) {
    if (pool_.has(name) && !rotary) {
      throw UsageError(pool_.source(name) + " comes with rotary_cosines and rotary_sines");
    }
  }
  if (!rotary) return;
  text_.clear();
  if (options_.rotary == "interleaved") rotary.pairing = RotaryPairing::interleaved;
}

void PositionInputs::set_scheme(AttentionProblem& problem) {
  if (text_.empty() || !adds_to_tokens()) {
    if (pool_.has("position_table")) {
      throw UsageError(pool_.source("position_table") +
                       " is added to token vectors: that takes --x and --scheme learned");
    }
    if (text_.empty()) return;
  }
  if (adds_to_tokens()) {
    if (is_projected_) return;
    throw UsageError("--scheme " + text_ +
                     " is added to token vectors, before q and k are made of them: it takes --x, "
                     "--wq, --wk and --wv");
  }
  const int rank = problem.q.rank();
  const auto axis = [&](const View& view, int from_end) {
    return view.rank() >= from_end ? view.shape()[view.rank() - from_end] : 1;
  };
  if (rank < 2 || problem.k.rank() < 2) return;  // attention itself says what is wrong with them
  const std::int64_t heads = axis(problem.q, 3), width = axis(problem.q, 1);
  const bool wide = problem.q.dtype() == DType::float64;
  const std::shared_ptr<PositionScheme> scheme =
      make_positions(text_, {.width = heads * width,
                             .heads = heads,
                             .head_width = width,
                             .key_heads = axis(problem.k, 3),
                             .causal = problem.causal,
                             .dtype = wide ? DType::float64 : DType::float32});
  AttendVariableOptions made;
  made.rules.query_positions = problem.query_positions;
  made.rules.key_positions = problem.key_positions;
  const PositionReach reach = position_reach(problem);
  check_reach(reach);
  scheme->enter(made, {.query_positions = problem.query_positions,
                       .key_positions = problem.key_positions,
                       .positions = reach.positions,
                       .row_lengths = reach.row_lengths.view()});
  set_turn(problem.rotary, made.rotary);
  if (made.slopes && scheme->parameters().empty()) {
    pool_.forbid("slopes", "--scheme " + text_);
    problem.slopes = pool_.keep(made.slopes.value());
  } else {
    problem.slopes = learned("slopes", made.slopes, problem.slopes);
  }
  problem.bias_table = learned("bias_table", made.bias_table, problem.bias_table);
  problem.relative_keys = learned("relative_keys", made.relative_keys, problem.relative_keys);
  problem.relative_queries =
      learned("relative_queries", made.relative_queries, problem.relative_queries);
  problem.relative_values =
      learned("relative_values", made.relative_values, problem.relative_values);
  if (!made.bucket_table) return;
  problem.bucket_table = learned("bucket_table", made.bucket_table, problem.bucket_table);
  problem.buckets = made.rules.buckets;
  problem.max_distance = made.rules.max_distance;
}

// A position beyond all tables comes of an offset: arrays of positions were looked at before.
void PositionInputs::check_reach(const PositionReach& reach) const {
  const bool turns = position_scheme(parse_positions(text_).scheme).door == PositionDoor::turn;
  if (!turns || reach.positions <= kPositionEnd) return;
  throw UsageError("--scheme " + text_ +
                   " turns by tables of positions, which must lie below 2^30; a query or key "
                   "stands at 2^30 or beyond" +
                   (pool_.has("query_offset") ? " by " + pool_.source("query_offset") : ""));
}

void PositionInputs::set_turn(RotaryTurn& turn, const RotaryTables& tables) {
  if (!tables.cosines) return;
  turn = {.cosines = pool_.keep(tables.cosines),
          .sines = pool_.keep(tables.sines),
          .pairing = tables.pairing};
  if (!tables.key_cosines) return;
  turn.key_cosines = pool_.keep(tables.key_cosines);
  turn.key_sines = pool_.keep(tables.key_sines);
}

// An array that a scheme learns comes from the request.
View PositionInputs::learned(const char* name, const Variable& of_scheme, const View& given) {
  if (!of_scheme) return given;
  if (!given) {
    throw UsageError("--scheme " + text_ + " reads numbers that are learned: '" + name +
                     "' in INPUT must give them, " + to_string(of_scheme.shape()));
  }
  if (given.shape() != of_scheme.shape()) {
    throw UsageError(pool_.source(name) + " is " + to_string(given.shape()) + ", but --scheme " +
                     text_ + " has " + to_string(of_scheme.shape()));
  }
  return given;
}

}  // namespace volvelle::cli
