#include "cli/check.h"

#include <array>

#include "cli/check_attention.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/suggest.h"

namespace volvelle::cli {
namespace {

const std::array kSubjects{
    Verb{"check attention", "what attention promises, each property beside a control", "[options]",
         kCheckAttentionExamples, kCheckAttentionNotes, run_check_attention},
};

// Behind "check ".
std::string short_name(const Verb& subject) { return std::string(subject.name).substr(6); }

std::string listing() {
  std::string text = "Subjects\n";
  for (const Verb& subject : check_subjects()) {
    text += "  volvelle " + std::string(subject.name) + "    " + subject.summary + '\n';
  }
  return text + "  volvelle check SUBJECT --help lists the options of one\n";
}

}  // namespace

std::span<const Verb> check_subjects() { return kSubjects; }

int run_check(const Invocation& call) {
  if (call.arguments.empty()) {
    call.out << listing();
    return kDone;
  }
  const std::string& wanted = call.arguments.front();
  if (wanted == "--help" || wanted == "-h") {
    call.out << verb_help(call.verb, {}) << '\n' << listing();
    return kDone;
  }
  std::vector<std::string> names;
  for (const Verb& subject : check_subjects()) {
    if (short_name(subject) == wanted) {
      return subject.run(
          {subject, {call.arguments.begin() + 1, call.arguments.end()}, call.out, call.remarks});
    }
    names.push_back(short_name(subject));
  }
  if (wanted.starts_with('-')) {
    throw UsageError("name the subject before its options: volvelle check attention " + wanted);
  }
  throw UsageError("no check is called '" + wanted + "'" + suggestion(wanted, names));
}

const char* const kCheckExamples =
    "volvelle check # lists what can be checked\n"
    "volvelle check attention # every property on this machine, beside its control\n"
    "volvelle check attention --list # what each property says";

}  // namespace volvelle::cli
