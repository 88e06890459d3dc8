#include <volvelle/tensor/array.h>
