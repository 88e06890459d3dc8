#include "cli/help.h"

#include <algorithm>
#include <sstream>

#include "volvelle/report/table.h"

namespace volvelle::cli {
namespace {

constexpr std::size_t kLeft = 26;  // where the explanations begin

std::string entry(const std::string& left, const std::string& text) {
  const TextLayout layout{.width = 80, .indent = static_cast<int>(kLeft)};
  std::string body = wrapped(text, layout);
  const std::string head = "  " + left;
  if (head.size() + 2 > kLeft) return head + '\n' + body;
  return head + body.substr(head.size());
}

// "command # what it does" as two lines.
std::string examples(const char* text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.rfind(" # ");
    result += "  " + line.substr(0, mark) + '\n';
    if (mark != std::string::npos) result += wrapped(line.substr(mark + 3), {.indent = 6});
  }
  return result;
}

}  // namespace

std::string program_help() {
  std::string text = "volvelle: attention and transformers that you can set, run and look into\n\n";
  text += "Start with\n";
  text += "  volvelle tour           the worked examples, every step\n";
  text += "  volvelle attend --help  attention on your own arrays\n\n";
  text += "Verbs\n";
  for (const Verb& verb : verbs()) text += entry(verb.name, verb.summary);
  text += "\n  volvelle VERB --help    examples and options of a verb\n";
  text += "  volvelle --version      library, compiler, instruction sets\n";
  return text + '\n' +
         wrapped(
             "Exit codes: 0 done, 1 a file or the system failed, 2 wrong usage, 3 a check failed, "
             "130 interrupted. Data goes to stdout, everything else to stderr.",
             {.indent = 0});
}

std::string verb_help(const Verb& verb, const std::vector<OptionHelp>& options) {
  const std::string name = std::string("volvelle ") + verb.name;
  std::string text = name + ": " + verb.summary + "\n\nExamples\n" + examples(verb.examples);
  text += "\nUsage\n  " + name + ' ' + verb.usage + '\n';
  std::string group;
  for (const OptionHelp& option : options) {
    if (option.group != group) text += '\n' + (group = option.group) + '\n';
    text += entry(option.left, option.text);
  }
  std::istringstream notes(verb.notes);
  for (std::string line; std::getline(notes, line);) {
    text += line.empty() ? "\n" : wrapped(line, {.indent = 0});
  }
  return text;
}

}  // namespace volvelle::cli
