#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/captured_run.h"

namespace volvelle::testing {

/// Runs `volvelle attend ... --json` and reads its document; stdout must hold exactly one.
inline nlohmann::json attend_json(std::vector<std::string> arguments, int exit_code = 0) {
  arguments.insert(arguments.begin(), "attend");
  arguments.push_back("--json");
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  return nlohmann::json::parse(run.out);
}

}  // namespace volvelle::testing
