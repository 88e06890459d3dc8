#include <cstdint>

#include "volvelle/base/error.h"
