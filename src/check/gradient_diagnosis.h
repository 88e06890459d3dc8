#pragma once

#include "attention/resolved.h"
#include "check/gradient_pair.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle {

/// Adds to the report what explains the pairs that differ and are not yet explained, and marks
/// them. Runs the oracle with one fault at a time, on samples.
void diagnose_gradients(const AttentionProblem& problem, const ResolvedAttention& resolved,
                        const View& grad_output, GradientPairs& pairs, GradientReport& report);

/// Whether the oracle agrees, where the two differ, with all of the file's gradients or with all of
/// ours.
enum class Whose : unsigned char { theirs, ours };
bool oracle_agrees(const AttentionProblem& problem, const ResolvedAttention& resolved,
                   const View& grad_output, const GradientPairs& pairs, Whose whose);

}  // namespace volvelle
