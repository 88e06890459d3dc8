#include "io/safetensors.h"

#include <algorithm>

#include "io/file_kind.h"
#include "io/message_text.h"
#include "io/safetensors_header.h"
#include "io/stored_array.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::size_t kLengthBytes = 8;

std::uint64_t header_length(const Source& source, std::size_t limit) {
  const std::uint64_t size = source.bytes.size();
  const bool truncated = size < kLengthBytes + 2;
  if (truncated || source.bytes[kLengthBytes] != std::byte{'{'}) {
    throw_mislabelled(source, ".safetensors", "a header's length in 8 bytes, then '{'");
  }
  const auto length = load<std::uint64_t>(source.bytes, 0);
  if (length > limit) {
    throw FormatError(source.name, 0,
                      "a header of " + std::to_string(length) + " bytes is beyond the limit of " +
                          std::to_string(limit) + " (ReadOptions::max_header_bytes)");
  }
  if (length > size - kLengthBytes) {
    throw FormatError(source.name, 0,
                      "the file is truncated: its header takes " + std::to_string(length) +
                          " bytes, the file has " + std::to_string(size - kLengthBytes));
  }
  return length;
}

// Every byte of the data belongs to exactly one tensor.
void check_cover(const std::vector<SafetensorsEntry>& entries, std::uint64_t size,
                 const std::string& file, std::uint64_t start) {
  std::vector<const SafetensorsEntry*> order;
  order.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  const auto fail = [&](std::uint64_t at, const std::string& problem) {
    throw FormatError(file, static_cast<std::int64_t>(start + std::min(at, size)), problem);
  };
  std::uint64_t covered = 0;
  for (const SafetensorsEntry* entry : order) {
    std::string range = "[";
    range.append(std::to_string(entry->begin)).append(", ").append(std::to_string(entry->end));
    range += ']';
    if (entry->end > size) {
      fail(size, "tensor " + in_quotes(entry->name) + " lies at " + range + ", but the file has " +
                     std::to_string(size) + " bytes of data: it is truncated");
    }
    if (entry->begin < covered) {
      fail(entry->begin, "tensor " + in_quotes(entry->name) + " at " + range +
                             " shares bytes with the one before it");
    }
    if (entry->begin > covered) {
      fail(covered, std::to_string(entry->begin - covered) + " bytes before tensor " +
                        in_quotes(entry->name) + " belong to no tensor");
    }
    covered = entry->end;
  }
  if (covered != size) {
    fail(covered, std::to_string(size - covered) + " bytes at the end belong to no tensor");
  }
}

}  // namespace

NamedArrays parse_safetensors(const Source& source, const ReadOptions& options) {
  const std::uint64_t length = header_length(source, options.max_header_bytes);
  const std::uint64_t start = kLengthBytes + length;
  const std::vector<SafetensorsEntry> entries =
      parse_safetensors_header({source.name, source.bytes.subspan(kLengthBytes, length)});
  check_cover(entries, source.bytes.size() - start, source.name, start);
  NamedArrays arrays;
  arrays.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) {
    arrays.push_back(
        {entry.name, stored_array(source, start + entry.begin, entry.dtype, entry.shape)});
  }
  return arrays;
}

void write_safetensors(ByteSink& sink, const NamedArrays& arrays, std::size_t max_header_bytes) {
  NamedArrays ordered;
  for (const std::size_t width : {8, 4, 2, 1}) {
    for (const NamedArray& named : arrays) {
      if (size_of(named.array.dtype()) == width) ordered.push_back(named);
    }
  }
  std::string header = safetensors_header_for(ordered);
  header.append((64 - (kLengthBytes + header.size()) % 64) % 64, ' ');
  if (header.size() > max_header_bytes) {
    throw InvalidArgument("[write] a safetensors header of " + std::to_string(header.size()) +
                          " bytes is beyond the format's limit of " +
                          std::to_string(max_header_bytes) + "; write fewer arrays to one file");
  }
  const std::uint64_t length = header.size();
  sink.write(&length, kLengthBytes);
  sink.write(header.data(), header.size());
  for (const NamedArray& named : ordered) sink.write(named.array.raw(), named.array.bytes());
}

}  // namespace volvelle
