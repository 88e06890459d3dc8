#include "io/file.h"
#include <hwy/highway.h>
  #  include <volvelle/io/open.h>
