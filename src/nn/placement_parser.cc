#include "nn/placement_parser.h"

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "nn/text_cursor.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

const std::vector<std::string> kWords{"x",    "n",          "attention", "feed_forward",
                                      "norm", "layer_norm", "rms_norm",  "alpha"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// By recursive descent, a function for each rule:
//
//     slots  = step { ";" step }
//     step   = NORM "(" sum ")" | sum
//     sum    = [factor "*"] "x" "+" term { "+" term }
//     term   = [number "*"] (call | NORM "(" call ")")
//     call   = SUBLAYER "(" ("x" | "n" | NORM "(" "x" ")") ")"
//     factor = number | "alpha"
class SlotParser : TextCursor {
 public:
  explicit SlotParser(std::string_view text) : TextCursor("placement", text) {}

  NormPlacement slots() {
    NormPlacement placement;
    do {
      placement.steps.push_back(step());
    } while (take(';'));
    if (!at_end()) fail("'+', ';' or the end");
    return placement;
  }

 private:
  PlacementStep step() {
    PlacementStep made;
    const std::size_t start = at_;
    const std::string_view word = next_word();
    if (norm_of(word) != NormSlot::none) {
      made.stream = norm_of(word);
      expect('(');
      sum(made);
      expect(')');
      return made;
    }
    at_ = start;
    sum(made);
    return made;
  }

  void sum(PlacementStep& made) {
    const std::size_t start = at_;
    if (next_word() == "alpha") {
      made.stream_factor.reset();
      expect('*');
    } else {
      at_ = start;
      made.stream_factor = factor();
    }
    if (!take_word("x")) fail("the stream x, the first term of a step");
    if (!take('+')) fail("'+' and a sublayer");
    do {
      made.branches.push_back(term());
    } while (take('+'));
  }

  PlacementBranch term() {
    PlacementBranch made;
    made.factor = factor();
    const std::size_t start = at_;
    const std::string_view word = next_word();
    made.after = norm_of(word);
    if (made.after == NormSlot::none) {
      at_ = start;
      call(made);
      return made;
    }
    expect('(');
    call(made);
    expect(')');
    return made;
  }

  void call(PlacementBranch& made) {
    skip_blanks();
    const std::size_t start = at_;
    const std::string_view word = next_word();
    if (word != word_of(Sublayer::attention) && word != word_of(Sublayer::feed_forward)) {
      at_ = start;
      fail("attention(..) or feed_forward(..)");
    }
    made.sublayer =
        word == word_of(Sublayer::attention) ? Sublayer::attention : Sublayer::feed_forward;
    expect('(');
    argument(made);
    expect(')');
  }

  void argument(PlacementBranch& made) {
    skip_blanks();
    const std::size_t start = at_;
    const std::string_view word = next_word();
    if (word == "x") return;
    if (word == "n") {
      made.shared = true;
      made.before = NormSlot::usual;
      return;
    }
    made.before = norm_of(word);
    if (made.before == NormSlot::none) {
      at_ = start;
      fail("x, n or norm(x)");
    }
    expect('(');
    if (!take_word("x")) fail("x");
    expect(')');
  }

  // A number and '*', or nothing, which is 1.
  double factor() {
    skip_blanks();
    if (at_end() || !(is_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '.')) return 1;
    double number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc() || !std::isfinite(number)) fail("a factor: a finite number");
    at_ += static_cast<std::size_t>(end - begin);
    expect('*');
    return number;
  }

  NormSlot norm_of(std::string_view word) const {
    for (const NormSlot slot : {NormSlot::usual, NormSlot::layer, NormSlot::rms}) {
      if (word == word_of(slot)) return slot;
    }
    return NormSlot::none;
  }

  // The word that comes next; empty where none does. Unknown ones are refused.
  std::string_view next_word() {
    skip_blanks();
    const std::size_t start = at_;
    while (!at_end() && is_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    for (const std::string& known : kWords) {
      if (word == known) return word;
    }
    if (word.empty()) return word;
    std::string list;
    for (const std::string& known : kWords) list += (list.empty() ? "" : ", ") + known;
    refuse(start, "unknown word '" + std::string(word) + "'" + suggestion(word, kWords) +
                      " (the words are " + list + ")");
  }

  bool take_word(std::string_view wanted) {
    const std::size_t start = at_;
    if (next_word() == wanted) return true;
    at_ = start;
    skip_blanks();
    return false;
  }
};

}  // namespace

std::string_view word_of(NormSlot slot) noexcept {
  switch (slot) {
    case NormSlot::none:
      break;
    case NormSlot::usual:
      return "norm";
    case NormSlot::layer:
      return "layer_norm";
    case NormSlot::rms:
      return "rms_norm";
  }
  return "";
}

std::string_view word_of(Sublayer sublayer) noexcept {
  return sublayer == Sublayer::attention ? "attention" : "feed_forward";
}

NormPlacement parse_slots(std::string_view text) { return SlotParser(text).slots(); }

}  // namespace volvelle
