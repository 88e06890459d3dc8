#include <volvelle/tensor/array.h>

#include "tensor/strides.h"
