#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A generated language for small causal models that needs both what stands near and what stands
/// far away, in order, and whose best possible loss is known token by token.
///
/// Near: words. The next word is one of two, chosen by the last word and by whether the word before
/// it is even or odd: who does not know which of the two came last, or forgets the one before it,
/// takes one of four. The first word of a phrase is any word; the second, which has but one word
/// before it, is one of the four.
///
/// Far: names. After a word, once in `pause` times, the phrase ends and a statement follows (a name
/// and its value in one token), or a question (a name that was stated before) and its answer: the
/// value of that name's last statement. Names are stated again at random, with other values, so
/// answers are told at all distances, from the last token to the first, and whoever finds the name
/// but not the order of its statements answers wrong.
///
/// Which statement or question comes cannot be foretold, so it is not asked: labels are words and
/// answers.
///
/// Tokens: words, then statements (name * values + value), then questions by name, then answers by
/// value.
struct LanguageOptions {
  std::int64_t words = 16;  ///< a multiple of 4, at least 8
  std::int64_t names = 8;
  std::int64_t values = 4;
  std::int64_t pause = 5;    ///< words of a phrase on average
  std::int64_t tokens = 64;  ///< of a sequence, without the label of the last
  std::int64_t batch = 16;
  std::uint64_t seed = 0;     ///< of the sequences
  std::uint64_t grammar = 0;  ///< which words follow which
};

/// What the next token is.
enum class LanguageKind : std::uint8_t { word, statement, question, answer };

struct LanguageBatch {
  Tensor ids;     ///< (batch, tokens) int64
  Tensor labels;  ///< (batch, tokens) int64: the next token where it is asked, else -100
  std::vector<LanguageKind> kinds;  ///< of the next tokens
  /// What whoever knows the language and all tokens up to here loses, -log P; 0 where not asked.
  std::vector<double> best;
  /// Where the next token is an answer: how far back from its question the value was told last, by
  /// a statement or an earlier answer; else 0.
  std::vector<std::int64_t> distances;
};

/// words + names * values + names + values.
VOLVELLE_API std::int64_t language_vocabulary(const LanguageOptions& options);
/// The first answer; the token of value v is this + v.
VOLVELLE_API std::int64_t language_first_answer(const LanguageOptions& options);

/// The four words that may follow a word: the first two after an even word before it, the others
/// after an odd one. Row w of (words, 4).
VOLVELLE_API std::vector<std::int64_t> language_successors(const LanguageOptions& options);

/// Batch number `index`, counted from 0: a function of both seeds and the index (Philox4x32-10),
/// whatever was drawn before; sequences of more tokens begin with those of fewer.
/// Throws InvalidArgument: counts below 1 (below 2 values or 2 of a pause), words that are no
/// multiple of 4 or below 8.
VOLVELLE_API LanguageBatch language_batch(const LanguageOptions& options, std::int64_t index);

}  // namespace volvelle
