#pragma once

// Marks what a shared build of the library exports; everything else stays hidden.
#if defined(__GNUC__)
#define VOLVELLE_API __attribute__((visibility("default")))
#else
#define VOLVELLE_API
#endif
