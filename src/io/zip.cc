#include "io/zip.h"

#include <algorithm>
#include <optional>

#include "io/file_kind.h"
#include "io/message_text.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::size_t kEntrySize = 46, kLocalSize = 30;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the real value stands in a zip64 field
// Deflate's shortest code for its longest match: 258 bytes from two bits.
constexpr std::uint64_t kMostPerByte = 1032;

struct Directory {
  std::uint64_t entries, size, offset;
};

class ZipReader {
 public:
  explicit ZipReader(const Source& source) : source_(source), bytes_(source.bytes) {}

  std::vector<ZipMember> read() {
    const Directory directory = find_directory();
    if (directory.offset > bytes_.size() || directory.size > bytes_.size() - directory.offset ||
        directory.entries > directory.size / kEntrySize) {
      fail(directory.offset,
           "the central directory lies outside the file: " + std::to_string(directory.entries) +
               " members in " + std::to_string(directory.size) + " bytes");
    }
    std::vector<ZipMember> members;
    members.reserve(directory.entries);
    std::uint64_t at = directory.offset;
    end_ = directory.offset + directory.size;
    for (std::uint64_t i = 0; i < directory.entries; ++i) members.push_back(read_entry(at));
    check_overlap();
    return members;
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& problem) const {
    throw FormatError(source_.name,
                      static_cast<std::int64_t>(std::min<std::uint64_t>(offset, bytes_.size())),
                      problem);
  }

  template <class T>
  T at(std::uint64_t offset) const {
    return load<T>(bytes_, offset);
  }

  Directory find_directory() const {
    const std::uint64_t size = bytes_.size();
    if (size < 4 ||
        (at<std::uint32_t>(0) != kLocalSignature && at<std::uint32_t>(0) != kEndSignature)) {
      throw_mislabelled(source_, ".npz", "'PK\\x03\\x04'");
    }
    // The end record is last, but for a comment of at most 65535 bytes whose length it states.
    const std::uint64_t lowest = size > kEndSize + 0xFFFF ? size - kEndSize - 0xFFFF : 0;
    for (std::uint64_t end = size >= kEndSize ? size - kEndSize + 1 : 0; end-- > lowest;) {
      if (at<std::uint32_t>(end) == kEndSignature &&
          end + kEndSize + at<std::uint16_t>(end + 20) == size) {
        return read_end(end);
      }
    }
    fail(size, "the archive is truncated: its end record is missing");
  }

  Directory read_end(std::uint64_t end) const {
    Directory directory{at<std::uint16_t>(end + 10), at<std::uint32_t>(end + 12),
                        at<std::uint32_t>(end + 16)};
    const bool has64 =
        end >= kLocator64Size && at<std::uint32_t>(end - kLocator64Size) == kLocator64Signature;
    if (!has64) {
      if (at<std::uint16_t>(end + 4) != 0 || at<std::uint16_t>(end + 6) != 0 ||
          at<std::uint16_t>(end + 8) != directory.entries) {
        fail(end, "an archive split over several files is not read");
      }
      return directory;
    }
    const std::uint64_t end64 = at<std::uint64_t>(end - kLocator64Size + 8);
    if (end64 > end || end - end64 < kEnd64Size || at<std::uint32_t>(end64) != kEnd64Signature) {
      fail(end - kLocator64Size, "the zip64 end record is not where its locator says");
    }
    if (at<std::uint32_t>(end64 + 16) != 0 || at<std::uint32_t>(end64 + 20) != 0) {
      fail(end64, "an archive split over several files is not read");
    }
    return {at<std::uint64_t>(end64 + 32), at<std::uint64_t>(end64 + 40),
            at<std::uint64_t>(end64 + 48)};
  }

  // Reads the entry at `offset` and moves on to the next.
  ZipMember read_entry(std::uint64_t& offset) {
    const std::uint64_t entry = offset;
    if (end_ - entry < kEntrySize || at<std::uint32_t>(entry) != kEntrySignature) {
      fail(entry, "the central directory is damaged");
    }
    const std::uint64_t name = at<std::uint16_t>(entry + 28);
    const std::uint64_t extra = at<std::uint16_t>(entry + 30);
    const std::uint64_t length = kEntrySize + name + extra + at<std::uint16_t>(entry + 32);
    if (length > end_ - entry) fail(entry, "the central directory is damaged");
    offset += length;

    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(bytes_.data() + entry + kEntrySize), name);
    const std::string shown = "member " + in_quotes(member.name);
    if ((at<std::uint16_t>(entry + 8) & 1) != 0) fail(entry, shown + " is encrypted");
    const auto method = at<std::uint16_t>(entry + 10);
    if (method != 0 && method != 8) {
      fail(entry, shown + " is packed by method " + std::to_string(method) +
                      ", which is not read; numpy.savez_compressed uses deflate");
    }
    member.method = static_cast<ZipMember::Method>(method);
    member.crc = at<std::uint32_t>(entry + 16);

    std::uint64_t packed = at<std::uint32_t>(entry + 20);
    member.size = at<std::uint32_t>(entry + 24);
    std::uint64_t local = at<std::uint32_t>(entry + 42);
    read_zip64(entry + kEntrySize + name, extra, {&member.size, &packed, &local}, shown);

    locate(member, local, packed, shown);
    const bool possible =
        method == 0 ? member.size == packed : packed > 0 && member.size / kMostPerByte <= packed;
    if (!possible) {
      fail(entry, shown + " claims " + std::to_string(member.size) + " bytes unpacked from " +
                      std::to_string(packed) + ", which its method cannot do");
    }
    return member;
  }

  // Replaces the values that are too large for 32 bits by those of the zip64 extra field, which
  // holds just these, in this order.
  void read_zip64(std::uint64_t start, std::uint64_t size,
                  std::initializer_list<std::uint64_t*> values, const std::string& shown) const {
    if (std::none_of(values.begin(), values.end(), [](auto* value) { return *value == kIn64; })) {
      return;
    }
    const std::uint64_t end = start + size;
    for (std::uint64_t field = start; end - field >= 4;) {
      const std::uint64_t length = at<std::uint16_t>(field + 2);
      std::uint64_t from = field + 4;
      if (length > end - from) break;
      field = from + length;
      if (at<std::uint16_t>(from - 4) != 1) continue;
      for (std::uint64_t* value : values) {
        if (*value != kIn64) continue;
        if (field - from < 8) fail(start, shown + " has a zip64 field that is too short");
        *value = at<std::uint64_t>(from);
        from += 8;
      }
      return;
    }
  }

  // Finds the data behind the local header, whose name and extra field have lengths of their own.
  void locate(ZipMember& member, std::uint64_t local, std::uint64_t packed,
              const std::string& shown) {
    if (local > bytes_.size() || bytes_.size() - local < kLocalSize ||
        at<std::uint32_t>(local) != kLocalSignature) {
      fail(local, shown + " is not where the central directory says");
    }
    const std::uint64_t start =
        local + kLocalSize + at<std::uint16_t>(local + 26) + at<std::uint16_t>(local + 28);
    if (start > bytes_.size() || packed > bytes_.size() - start) {
      fail(local, shown + " reaches beyond the end of the file");
    }
    member.offset = start;
    member.data = bytes_.subspan(start, packed);
    ranges_.push_back({local, start + packed});
  }

  void check_overlap() {
    std::sort(ranges_.begin(), ranges_.end());
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].first < ranges_[i - 1].second) {
        fail(ranges_[i].first, "two members share bytes of the archive");
      }
    }
  }

  const Source& source_;
  Bytes bytes_;
  std::uint64_t end_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

}  // namespace

std::vector<ZipMember> list_zip(const Source& source) { return ZipReader(source).read(); }

}  // namespace volvelle
