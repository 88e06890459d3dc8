#pragma once

#include "check/properties/property.h"

namespace volvelle::properties {

// How far a subject is from each property; the catalog says in words what that is.

double agreement_error(const Subject& subject);
double double_precision_error(const Subject& subject);
double half_precision_error(const Subject& subject);

double dropout_error(const Subject& subject);

double scaling_error(const Subject& subject);
double turning_error(const Subject& subject);
double bias_error(const Subject& subject);
double cap_error(const Subject& subject);
double sink_error(const Subject& subject);
double softmax_error(const Subject& subject);
double shift_error(const Subject& subject);
double grouped_heads_error(const Subject& subject);

double causality_error(const Subject& subject);
double padding_error(const Subject& subject);
double packing_error(const Subject& subject);
double window_error(const Subject& subject);
double prefix_error(const Subject& subject);
double chunk_error(const Subject& subject);
double empty_row_error(const Subject& subject);
double leak_error(const Subject& subject);

double step_by_step_error(const Subject& subject);
double cache_error(const Subject& subject);
double fork_error(const Subject& subject);
double permutation_error(const Subject& subject);
double offset_error(const Subject& subject);

double gradient_error(const Subject& subject);
double gradient_agreement_error(const Subject& subject);
double dropout_gradient_error(const Subject& subject);
double half_gradient_error(const Subject& subject);
double unseen_gradient_error(const Subject& subject);
double gradient_thread_error(const Subject& subject);
double gradient_neighbour_error(const Subject& subject);

double thread_error(const Subject& subject);
double neighbour_error(const Subject& subject);
double stride_error(const Subject& subject);

}  // namespace volvelle::properties
