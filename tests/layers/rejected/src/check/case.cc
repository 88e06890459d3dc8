#include "kernels/sum.h"
