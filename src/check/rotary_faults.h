#pragma once

#include <span>

#include "check/fault_collector.h"

namespace volvelle {

/// The lines of the catalog that a problem with turned queries and keys can have.
std::span<const FaultEntry> rotary_faults();

}  // namespace volvelle
