#pragma once

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace volvelle::testing {

/// tests/data/random/vectors.json: what PyTorch 1.13.1 and NumPy 1.24.2 drew, read once. Its
/// "about" explains the encodings.
const nlohmann::json& random_vectors();

/// "3f800000 40000000" as numbers by their bits.
std::vector<float> floats_of_hex(const std::string& text);
std::vector<double> doubles_of_hex(const std::string& text);

/// The same the other way, to compare bits and to read failures.
std::string hex_of(std::span<const float> numbers);
std::string hex_of(std::span<const double> numbers);

/// CRC-32 of the bytes of numbers, as eight hex digits, going on from an earlier one.
class Crc32 {
 public:
  template <class Numbers>
  void add(const Numbers& numbers) {
    add_bytes(std::data(numbers), std::size(numbers) * sizeof(*std::data(numbers)));
  }
  std::string hex() const;
  std::uint32_t value() const { return value_; }

 private:
  void add_bytes(const void* data, std::size_t bytes);

  std::uint32_t value_ = 0;
};

}  // namespace volvelle::testing
