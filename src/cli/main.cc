#include <cstdio>
#include <iostream>
#include <new>

#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/verb.h"
#include "cli/version.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle::cli {
namespace {

const Verb& verb_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  for (const char* option : {"--help", "--version"}) names.push_back(option);
  const char* what = name.starts_with("-") ? "unknown option '" : "unknown verb '";
  throw UsageError(what + name + "'" + suggestion(name, names));
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      (arguments[0] == "help" && arguments.size() == 1)) {
    std::cout << program_help();
    return kDone;
  }
  if (arguments[0] == "--version") {
    std::cout << version_text();
    return kDone;
  }
  if (arguments[0] == "help") arguments = {arguments[1], "--help"};
  const Verb& verb = verb_named(arguments[0]);
  arguments.erase(arguments.begin());
  return verb.run({verb, std::move(arguments), std::cout, std::cerr});
}

int refuse(const std::exception& error, int code) {
  std::cout.flush();
  std::cerr << "error: " << error.what() << '\n';
  return code;
}

int guarded_run(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const UsageError& error) {
    refuse(error, kUsage);
    const bool known = !arguments.empty() && arguments[0][0] != '-';
    for (const Verb& verb : verbs()) {
      if (known && verb.name == arguments[0]) {
        std::cerr << "`volvelle " << (error.about.empty() ? verb.name : error.about)
                  << " --help` has examples and all options\n";
        return kUsage;
      }
    }
    std::cerr << "`volvelle --help` lists the verbs\n";
    return kUsage;
  } catch (const InvalidArgument& error) {
    return refuse(error, kUsage);
  } catch (const Unsupported& error) {
    return refuse(error, kUsage);
  } catch (const std::bad_alloc&) {
    return refuse(IoError("out of memory"), kFailed);
  } catch (const std::exception& error) {
    return refuse(error, kFailed);
  }
}

}  // namespace
}  // namespace volvelle::cli

int main(int argc, char** argv) {
  using namespace volvelle::cli;
  std::ios::sync_with_stdio(false);
  install_signal_handlers();
  const int code = guarded_run({argv + 1, argv + argc});
  std::cout.flush();
  if (!std::cout) {  // a full disk behind a redirection
    std::cerr << "error: stdout could not be written\n";
    return kFailed;
  }
  return code;
}
