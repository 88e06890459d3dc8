#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/any_generator.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// First values of parameters, one function a rule, as torch.nn.init has them: matrices are (rows,
/// columns), that is (out, in), and are filled row by row. Whatever the parameter's dtype (float32
/// or float64), float32 numbers are drawn; a double parameter holds them widened, so that what is
/// repeated in double starts from the same weights. Bounds are computed in double.
/// Throws: InvalidArgument for other dtypes, read-only values, and matrices that are none or empty.

/// uniform(low, high).
VOLVELLE_API void uniform_values(Variable& parameter, AnyGenerator& draws, double low, double high);
/// normal(mean, deviation).
VOLVELLE_API void normal_values(Variable& parameter, AnyGenerator& draws, double mean,
                                double deviation);
/// Every element this number; draws nothing.
VOLVELLE_API void constant_values(Variable& parameter, double value);
/// Multiplies what is there, in the parameter's arithmetic.
VOLVELLE_API void scale_values(Variable& parameter, double factor);

/// uniform(-a, a), a = gain * sqrt(6 / (rows + columns)).
/// Source: Glorot and Bengio 2010.
VOLVELLE_API void xavier_uniform_values(Variable& matrix, AnyGenerator& draws, double gain = 1);
/// normal(0, gain * sqrt(2 / (rows + columns))).
VOLVELLE_API void xavier_normal_values(Variable& matrix, AnyGenerator& draws, double gain = 1);

/// uniform(-b, b), b = gain * sqrt(3 / columns). The gain for ReLU is sqrt(2).
/// Source: He, Zhang, Ren and Sun 2015, arXiv:1502.01852.
VOLVELLE_API void kaiming_uniform_values(Variable& matrix, AnyGenerator& draws, double gain);
/// normal(0, gain / sqrt(columns)).
VOLVELLE_API void kaiming_normal_values(Variable& matrix, AnyGenerator& draws, double gain);

/// torch.nn.Linear: weight (out, in) of uniform(-b, b) with b = 1 / sqrt(in), then the bias, where
/// there is one, likewise.
VOLVELLE_API void torch_linear_values(Variable& weight, Variable& bias, AnyGenerator& draws);

/// torch.nn.Embedding: normal(0, 1) over the whole table (rows, width), then the padding row, if
/// one is named, zeroed. Throws InvalidArgument for a row that the table does not have.
VOLVELLE_API void torch_embedding_values(Variable& table, AnyGenerator& draws,
                                         std::int64_t padding_row = -1);

}  // namespace volvelle
