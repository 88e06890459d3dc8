#pragma once

// Which instruction sets the kernels are compiled for: the baseline, SSE4, AVX2, AVX-512 (and
// NEON). The ones between cost compile time and gain nothing here. Included before Highway by
// every kernel file; VOLVELLE_HWY_NEWER is set by CMake where Highway knows the later names.
#ifndef HWY_DISABLED_TARGETS
#ifdef VOLVELLE_HWY_NEWER
#define HWY_DISABLED_TARGETS                                                                   \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | \
   HWY_SVE2_128)
#else
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
#endif
