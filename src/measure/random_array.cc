#include "measure/random_array.h"

namespace volvelle {

Tensor random_array(DType dtype, const Shape& shape, std::uint64_t seed) {
  Tensor numbers(DType::float32, shape);
  float* data = numbers.data<float>();
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    float sum = 0;  // of four uniform numbers: bell-shaped, variance 4/12
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;  // linear congruential
      sum += static_cast<float>(state >> 40) * 0x1p-24f - 0.5f;
    }
    data[i] = sum * 1.7320508f;
  }
  return dtype == DType::float32 ? numbers : converted(numbers.view(), dtype);
}

}  // namespace volvelle
