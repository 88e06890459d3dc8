#include "cli/subjects.h"

#include <algorithm>
#include <string>

#include "cli/exit_code.h"
#include "cli/help.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

std::string listing(const Verb& verb, std::span<const Verb> subjects, const SubjectWords& words) {
  std::size_t width = 0;
  for (const Verb& subject : subjects) width = std::max(width, std::string(subject.name).size());
  std::string text = std::string(words.heading) + '\n';
  for (const Verb& subject : subjects) {
    std::string line = "  volvelle " + std::string(subject.name);
    line.resize(std::string("  volvelle ").size() + width + 2, ' ');
    const std::string summary = wrapped(subject.summary, {.indent = static_cast<int>(line.size())});
    text += line + summary.substr(line.size());
  }
  return text + "  volvelle " + verb.name + ' ' + words.placeholder +
         " --help lists the options of one\n";
}

}  // namespace

int run_subject(const Invocation& call, std::span<const Verb> subjects, const SubjectWords& words) {
  if (call.arguments.empty()) {
    call.out << listing(call.verb, subjects, words);
    return kDone;
  }
  const std::string& wanted = call.arguments.front();
  if (wanted == "--help" || wanted == "-h") {
    call.out << verb_help(call.verb, {}) << '\n' << listing(call.verb, subjects, words);
    return kDone;
  }
  std::vector<std::string> names;
  for (const Verb& subject : subjects) {
    names.push_back(std::string(subject.name).substr(std::string(call.verb.name).size() + 1));
    if (names.back() == wanted) {
      try {
        return subject.run(
            {subject, {call.arguments.begin() + 1, call.arguments.end()}, call.out, call.remarks});
      } catch (UsageError& error) {
        error.about = subject.name;
        throw;
      }
    }
  }
  if (wanted.starts_with('-')) {
    throw UsageError("name the " + std::string(words.noun) + " before its options: volvelle " +
                     subjects.front().name + ' ' + wanted);
  }
  throw UsageError("no " + std::string(words.noun) + " is called '" + wanted + "'" +
                   suggestion(wanted, names));
}

}  // namespace volvelle::cli
