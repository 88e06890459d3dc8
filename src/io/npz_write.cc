#include <zlib.h>

#include <algorithm>
#include <string>

#include "io/npy_header.h"
#include "io/npz.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// Little-endian numbers put one after the other.
class Record {
 public:
  template <class T>
  Record& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Record& put16(std::uint64_t value) { return put(static_cast<std::uint16_t>(value)); }
  Record& put32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
  Record& text(const std::string& value) {
    text_ += value;
    return *this;
  }
  const std::string& bytes() const { return text_; }

 private:
  std::string text_;
};

struct Entry {
  std::string name;
  std::uint16_t flags;
  std::uint32_t crc;
  std::uint64_t size;
  std::uint64_t offset;
};

constexpr std::uint16_t kUtf8Names = 0x0800;
constexpr std::uint16_t kFirstDay =
    0x0021;  // 1 January 1980, so that equal arrays give equal files
constexpr std::uint64_t kAlignment = 64;

class NpzWriter {
 public:
  NpzWriter(ByteSink& sink, const NpzLayout& layout) : sink_(sink), layout_(layout) {}

  void add(const NamedArray& named) {
    const Tensor& given = named.array;
    const Tensor array =
        given.dtype() == DType::bfloat16 ? converted(given.view(), DType::float32) : given;
    const std::string header = npy_header_for(array.dtype(), array.shape());
    Entry entry{named.name + ".npy", 0, 0, header.size() + array.bytes(), position_};
    if (entry.name.size() > 0x7FFF) {
      throw InvalidArgument("[write] an array name of " + std::to_string(named.name.size()) +
                            " bytes is too long for .npz");
    }
    const auto not_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    if (std::any_of(entry.name.begin(), entry.name.end(), not_ascii)) entry.flags = kUtf8Names;
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    // zlib takes a null pointer, which an empty array may have, as "start anew".
    if (array.bytes() > 0)
      crc = crc32_z(crc, static_cast<const Bytef*>(array.raw()), array.bytes());
    entry.crc = static_cast<std::uint32_t>(crc);
    put(local_header(entry));
    put(header);
    put(array.raw(), array.bytes());
    entries_.push_back(std::move(entry));
  }

  void finish() {
    const std::uint64_t start = position_;
    for (const Entry& entry : entries_) put(directory_entry(entry));
    const std::uint64_t size = position_ - start;
    const std::uint64_t count = entries_.size();
    const bool in64 = count >= 0xFFFF || large(size) || large(start);
    if (in64) {
      const std::uint64_t end64 = position_;
      put(Record()
              .put32(0x06064b50)
              .put(std::uint64_t{44})
              .put16(45)
              .put16(45)
              .put32(0)
              .put32(0)
              .put(count)
              .put(count)
              .put(size)
              .put(start)
              .bytes());
      put(Record().put32(0x07064b50).put32(0).put(end64).put32(1).bytes());
    }
    const std::uint64_t shown_count = in64 ? 0xFFFF : count;
    put(Record()
            .put32(0x06054b50)
            .put16(0)
            .put16(0)
            .put16(shown_count)
            .put16(shown_count)
            .put32(in64 ? 0xFFFFFFFF : size)
            .put32(in64 ? 0xFFFFFFFF : start)
            .put16(0)
            .bytes());
  }

 private:
  bool large(std::uint64_t value) const { return value >= layout_.zip64_from; }

  std::string local_header(const Entry& entry) const {
    Record extra;
    const bool in64 = large(entry.size);
    if (in64) extra.put16(1).put16(16).put(entry.size).put(entry.size);
    // A field of padding (the identifier that Android's zipalign uses) moves the data to a
    // multiple of 64, so that a reader may map it.
    const std::uint64_t unpadded = position_ + 30 + entry.name.size() + extra.bytes().size();
    std::uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
    if (padding > 0 && padding < 6) padding += kAlignment;
    if (padding > 0) {
      extra.put16(0xD935).put16(padding - 4).put16(kAlignment).text(std::string(padding - 6, '\0'));
    }
    const std::uint64_t shown = in64 ? 0xFFFFFFFF : entry.size;
    return Record()
        .put32(0x04034b50)
        .put16(in64 ? 45 : 20)
        .put16(entry.flags)
        .put16(0)
        .put16(0)
        .put16(kFirstDay)
        .put32(entry.crc)
        .put32(shown)
        .put32(shown)
        .put16(entry.name.size())
        .put16(extra.bytes().size())
        .text(entry.name)
        .text(extra.bytes())
        .bytes();
  }

  std::string directory_entry(const Entry& entry) const {
    Record extra;
    const bool size64 = large(entry.size);
    const bool offset64 = large(entry.offset);
    if (size64 || offset64) {
      extra.put16(1).put16((size64 ? 16 : 0) + (offset64 ? 8 : 0));
      if (size64) extra.put(entry.size).put(entry.size);
      if (offset64) extra.put(entry.offset);
    }
    const std::uint64_t shown = size64 ? 0xFFFFFFFF : entry.size;
    const std::uint64_t version = size64 || offset64 ? 45 : 20;
    return Record()
        .put32(0x02014b50)
        .put16(version)
        .put16(version)
        .put16(entry.flags)
        .put16(0)
        .put16(0)
        .put16(kFirstDay)
        .put32(entry.crc)
        .put32(shown)
        .put32(shown)
        .put16(entry.name.size())
        .put16(extra.bytes().size())
        .put16(0)
        .put16(0)
        .put16(0)
        .put32(0)
        .put32(offset64 ? 0xFFFFFFFF : entry.offset)
        .text(entry.name)
        .text(extra.bytes())
        .bytes();
  }

  void put(const std::string& text) { put(text.data(), text.size()); }
  void put(const void* data, std::size_t size) {
    sink_.write(data, size);
    position_ += size;
  }

  ByteSink& sink_;
  NpzLayout layout_;
  std::uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace

void write_npz(ByteSink& sink, const NamedArrays& arrays, const NpzLayout& layout) {
  NpzWriter writer(sink, layout);
  for (const NamedArray& named : arrays) writer.add(named);
  writer.finish();
}

}  // namespace volvelle
