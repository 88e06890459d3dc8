#pragma once

#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace volvelle::cli {

/// Wrong usage: the program prints the message, points to the verb's help and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  std::string about = {};  ///< "study warm-up": whose help to point to; empty: the verb's
};

struct Verb;

/// One call of a verb. Data goes to `out`, everything else to `remarks`.
struct Invocation {
  const Verb& verb;
  std::vector<std::string> arguments;
  std::ostream& out;
  std::ostream& remarks;
};

/// A line of the catalog: what help prints and what runs.
struct Verb {
  const char* name;
  const char* summary;   ///< one line
  const char* usage;     ///< behind the name: "[INPUT] [options]"
  const char* examples;  ///< lines of "command # what it does"
  const char* notes;     ///< paragraphs printed behind the options, a line each; may be empty
  int (*run)(const Invocation& call);
};

/// All verbs, in the order help shows them.
std::span<const Verb> verbs();

}  // namespace volvelle::cli
