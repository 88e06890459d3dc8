#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>

#include "cli/help.h"
#include "volvelle/base/suggestion.h"

namespace volvelle::cli {
namespace {

[[noreturn]] void wrong_value(const std::string& option, const std::string& wanted,
                              const std::string& text, const std::string& hint = "") {
  throw UsageError(option + " takes " + wanted + ", not '" + text + "'" + hint);
}

// All of `text` as one number of type T; a leading plus is allowed.
template <class T>
bool read_all(const std::string& text, T& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  const auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc() && result.ptr == end && begin != end;
}

std::int64_t integer_of(const std::string& option, const std::string& text) {
  std::int64_t value = 0;
  if (!read_all(text, value)) wrong_value(option, "a whole number", text);
  return value;
}

double number_of(const std::string& option, const std::string& text) {
  double value = 0;
  if (!read_all(text, value)) wrong_value(option, "a number", text);
  return value;
}

// What stands between commas, each read by `read`.
template <class Value>
std::vector<Value> list_of(const std::string& option, const std::string& text,
                           Value (*read)(const std::string&, const std::string&)) {
  std::vector<Value> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    result.push_back(read(option, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return result;
}

}  // namespace

struct CommandLine::State {
  struct Value {
    std::string name;
    CLI::Option* option;
    std::function<void(const std::string&)> store;
  };

  explicit State(const Verb& of) : verb(of) {}

  void value(const std::string& name, const std::string& shown, const std::string& text,
             std::function<void(const std::string&)> store) {
    values.push_back({name, app.add_option(name)->expected(1), std::move(store)});
    names.push_back(name);
    help.push_back({group, name + ' ' + shown, text});
  }

  const Value* value_named(const std::string& name) const {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const Value& value) { return value.name == name; });
    return found == values.end() ? nullptr : &*found;
  }

  std::vector<std::string> joined(const std::vector<std::string>& arguments) const;

  const Verb& verb;
  CLI::App app;
  std::vector<Value> values;
  std::vector<std::pair<CLI::Option*, bool*>> flags;
  std::vector<std::string> names;
  std::vector<OptionHelp> help;
  std::string group = "Options";
};

CommandLine::CommandLine(const Verb& verb) : state_(std::make_unique<State>(verb)) {
  state_->app.set_help_flag();
  state_->app.allow_extras();
  state_->names.push_back("--help");
}

CommandLine::~CommandLine() = default;

void CommandLine::group(const std::string& title) { state_->group = title; }

void CommandLine::flag(const std::string& name, bool& target, const std::string& help) {
  state_->flags.emplace_back(state_->app.add_flag(name), &target);
  state_->names.push_back(name);
  state_->help.push_back({state_->group, name, help});
}

void CommandLine::text(const std::string& name, std::optional<std::string>& target,
                       const std::string& shown, const std::string& help) {
  state_->value(name, shown, help, [&target](const std::string& text) { target = text; });
}

void CommandLine::integer(const std::string& name, std::optional<std::int64_t>& target,
                          const std::string& shown, const std::string& help) {
  state_->value(name, shown, help,
                [&target, name](const std::string& text) { target = integer_of(name, text); });
}

void CommandLine::number(const std::string& name, std::optional<double>& target,
                         const std::string& shown, const std::string& help) {
  state_->value(name, shown, help,
                [&target, name](const std::string& text) { target = number_of(name, text); });
}

void CommandLine::choice(const std::string& name, std::optional<std::string>& target,
                         const std::vector<std::string>& choices, const std::string& help) {
  std::string shown;
  for (const std::string& choice : choices) shown += (shown.empty() ? "" : "|") + choice;
  state_->value(name, shown, help, [&target, name, choices, shown](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      wrong_value(name, shown, text, suggestion(text, choices));
    }
    target = text;
  });
}

void CommandLine::positional(const std::string& name, std::optional<std::string>& target,
                             const std::string& help) {
  state_->values.push_back({name, state_->app.add_option(name)->expected(1),
                            [&target](const std::string& text) { target = text; }});
  state_->help.push_back({state_->group, name, help});
}

// Puts each value behind its option with '=': "--scale -1" would look like a short option.
std::vector<std::string> CommandLine::State::joined(
    const std::vector<std::string>& arguments) const {
  std::vector<std::string> result;
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (!name.starts_with("--") || value_named(name) == nullptr) {
      result.push_back(argument);
      continue;
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw UsageError(name + " is given twice");
    }
    seen.push_back(name);
    std::string text;
    if (equals != std::string::npos) {
      text = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      text = arguments[++i];
    }
    if (text.empty()) throw UsageError(name + " needs a value");
    result.push_back(name + '=' + text);
  }
  return result;
}

bool CommandLine::parse(const Invocation& call) {
  const auto last = std::find(call.arguments.begin(), call.arguments.end(), "--");
  for (const char* asked : {"-h", "--help"}) {
    if (std::find(call.arguments.begin(), last, asked) != last) {
      call.out << verb_help(state_->verb, state_->help);
      return false;
    }
  }
  std::vector<std::string> arguments = state_->joined(call.arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    state_->app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const std::string& extra : state_->app.remaining()) {
    if (extra == "--") continue;
    const std::string name = extra.substr(0, extra.find('='));
    if (name.size() > 1 && name[0] == '-') {
      throw UsageError("unknown option '" + name + "'" + suggestion(name, state_->names));
    }
    throw UsageError("'" + extra + "' is one argument too many");
  }
  for (const auto& [option, target] : state_->flags) *target = option->count() > 0;
  for (const State::Value& value : state_->values) {
    if (value.option->count() > 0) value.store(value.option->results().front());
  }
  return true;
}

std::vector<std::int64_t> integers_of(const std::string& option, const std::string& text) {
  return list_of<std::int64_t>(option, text, integer_of);
}

std::vector<double> numbers_of(const std::string& option, const std::string& text) {
  return list_of<double>(option, text, number_of);
}

std::vector<std::string> words_of(const std::string& option, const std::string& text) {
  return list_of<std::string>(
      option, text, +[](const std::string& name, const std::string& word) {
        if (word.empty()) wrong_value(name, "words with a comma between", word);
        return word;
      });
}

}  // namespace volvelle::cli
