#include <zlib.h>
#include "tensor/strides.h"
