#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace volvelle::cli {

/// The options of one verb: declared once, then read by the parser and by its help.
///
///     CommandLine line(call.verb);
///     line.flag("--causal", options.causal, "a query sees no later key");
///     line.integer("--window", options.window, "N", "a query sees N keys up to itself");
///     if (!line.parse(call)) return kDone;  // help was asked for and printed
///
/// `parse` throws UsageError: unknown options (with the nearest known one), values missing, of the
/// wrong kind or given twice.
class CommandLine {
 public:
  explicit CommandLine(const Verb& verb);
  ~CommandLine();

  /// Options declared from here on stand under this title in help.
  void group(const std::string& title);

  void flag(const std::string& name, bool& target, const std::string& help);
  void text(const std::string& name, std::optional<std::string>& target, const std::string& shown,
            const std::string& help);
  void integer(const std::string& name, std::optional<std::int64_t>& target,
               const std::string& shown, const std::string& help);
  void number(const std::string& name, std::optional<double>& target, const std::string& shown,
              const std::string& help);
  void choice(const std::string& name, std::optional<std::string>& target,
              const std::vector<std::string>& choices, const std::string& help);
  void positional(const std::string& name, std::optional<std::string>& target,
                  const std::string& help);

  bool parse(const Invocation& call);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "3,5,-2" as whole numbers; throws UsageError that names `option`.
std::vector<std::int64_t> integers_of(const std::string& option, const std::string& text);
/// The same for numbers ("0.9,1e-3") and for words ("pre,post"): none of them empty.
std::vector<double> numbers_of(const std::string& option, const std::string& text);
std::vector<std::string> words_of(const std::string& option, const std::string& text);

}  // namespace volvelle::cli
