#include <sys/mman.h>
#include <zlib.h>

#include "tensor/strides.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/array.h"
// #include "kernels/none.h" in a comment is nobody's business
