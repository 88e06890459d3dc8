#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace volvelle::cli {

/// One option as help shows it.
struct OptionHelp {
  std::string group;
  std::string left;  ///< "--window N"
  std::string text;
};

/// Help of the whole program: what it is, its verbs, exit codes.
std::string program_help();

/// Help of one verb: examples first, then usage, options, notes.
std::string verb_help(const Verb& verb, const std::vector<OptionHelp>& options);

}  // namespace volvelle::cli
