// The matrix unit is asked of the system when bfloat16 is multiplied, not before: whoever embeds
// the library for float32 keeps the signal stacks that he has.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/arrays.h"
#include "support/routes.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/simd.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

namespace volvelle::testing {
namespace {

bool may_use_tiles() {
  constexpr long kWhatIsPermitted = 0x1022;  // ARCH_GET_XCOMP_PERM
  std::uint64_t features = 0;
  return syscall(SYS_arch_prctl, kWhatIsPermitted, &features) == 0 && (features >> 18 & 1) != 0;
}

void attend_in(DType dtype) {
  const Tensor array = filled(dtype, {40, 16}, [n = 0]() mutable { return 0.1 * (++n % 7); });
  attend({.q = array.view(), .k = array.view(), .v = array.view()});
}

TEST(MatrixPermission, IsAskedForByBFloat16Only) {
  if (may_use_tiles()) GTEST_SKIP() << "an earlier test of this process has asked already";
  const auto targets = simd_targets();
  if (targets.front() != "avx3_amx") GTEST_SKIP() << "no matrix unit here";
  const SimdScope scope("best");
  attend_in(DType::float32);
  attend_in(DType::float16);
  EXPECT_FALSE(may_use_tiles());
  set_simd_target("avx3");
  attend_in(DType::bfloat16);
  EXPECT_FALSE(may_use_tiles());
  set_simd_target("avx3_amx");
  attend_in(DType::bfloat16);
  EXPECT_TRUE(may_use_tiles());
}

}  // namespace
}  // namespace volvelle::testing
#endif
