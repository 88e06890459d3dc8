#include "kernels/absent.h"
