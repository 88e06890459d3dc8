#include "support/random_vectors.h"

#include <zlib.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace volvelle::testing {
namespace {

template <class Number, class Bits>
std::vector<Number> numbers_of_hex(const std::string& text) {
  std::vector<Number> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    numbers.push_back(std::bit_cast<Number>(static_cast<Bits>(std::stoull(word, nullptr, 16))));
  }
  return numbers;
}

template <class Bits, class Number>
std::string joined_hex(std::span<const Number> numbers) {
  std::string text;
  char word[17];
  for (const Number number : numbers) {
    std::snprintf(word, sizeof word, "%0*llx", static_cast<int>(2 * sizeof(Bits)),
                  static_cast<unsigned long long>(std::bit_cast<Bits>(number)));
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

}  // namespace

const nlohmann::json& random_vectors() {
  static const nlohmann::json vectors = [] {
    std::ifstream file(VOLVELLE_TEST_DATA "/random/vectors.json");
    return nlohmann::json::parse(file);
  }();
  return vectors;
}

std::vector<float> floats_of_hex(const std::string& text) {
  return numbers_of_hex<float, std::uint32_t>(text);
}
std::vector<double> doubles_of_hex(const std::string& text) {
  return numbers_of_hex<double, std::uint64_t>(text);
}

std::string hex_of(std::span<const float> numbers) { return joined_hex<std::uint32_t>(numbers); }
std::string hex_of(std::span<const double> numbers) { return joined_hex<std::uint64_t>(numbers); }

void Crc32::add_bytes(const void* data, std::size_t bytes) {
  value_ = static_cast<std::uint32_t>(
      crc32(value_, static_cast<const Bytef*>(data), static_cast<uInt>(bytes)));
}

std::string Crc32::hex() const {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value_);
  return text;
}

}  // namespace volvelle::testing
