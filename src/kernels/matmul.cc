#include "kernels/matmul.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>
#include <utility>

#include "kernels/matmul_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {

template <class T, int... kFewer>
HWY_INLINE bool FewRows(const BasicMatmulStep<T>& step, std::integer_sequence<int, kFewer...>) {
  return ((step.rows == kFewer + 1 && (WidePanels<kFewer + 1>(step), true)) || ...);
}

template <class T>
void Multiply(const BasicMatmulStep<T>& step) {
  if (FewRows(step, std::make_integer_sequence<int, kWideRows>())) return;
  for (int panel = 0; panel < step.panels; ++panel) OnePanel(step, panel);
}

const MatmulKernels* MatmulTable() {
  static constexpr MatmulKernels kTable{Multiply<float>, Multiply<double>};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(MatmulTable);

const MatmulKernels& matmul_kernels() { return *HWY_DYNAMIC_DISPATCH(MatmulTable)(); }

}  // namespace volvelle::kernels
#endif
