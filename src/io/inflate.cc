#include "io/inflate.h"

#include <algorithm>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // zlib counts in 32 bits

}  // namespace

Inflater::Inflater(Bytes packed, std::string name, std::uint64_t offset)
    : rest_(packed), name_(std::move(name)), start_(offset), packed_size_(packed.size()) {
  if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
    throw IoError("[read] " + name_ + ": no memory to unpack it");
  }
}

Inflater::~Inflater() { inflateEnd(&stream_); }

void Inflater::fail(const std::string& problem) const {
  const std::uint64_t used = packed_size_ - rest_.size() - stream_.avail_in;
  throw FormatError(name_, static_cast<std::int64_t>(start_ + used), problem);
}

std::size_t Inflater::some(void* target, std::size_t size) {
  std::size_t done = 0;
  while (done < size && !ended_) {
    if (stream_.avail_in == 0) {
      const std::size_t feed = std::min(rest_.size(), kMostAtOnce);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(feed);
      rest_ = rest_.subspan(feed);
    }
    const std::size_t room = std::min(size - done, kMostAtOnce);
    stream_.next_out = static_cast<Bytef*>(target) + done;
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t came = room - stream_.avail_out;
    done += came;
    if (status == Z_STREAM_END) {
      ended_ = true;
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && came == 0 && rest_.empty() && stream_.avail_in == 0)) {
      fail("the packed data is truncated");
    } else if (status == Z_MEM_ERROR) {
      throw IoError("[read] " + name_ + ": no memory to unpack it");
    } else if (status != Z_OK) {
      fail(std::string("the packed data is damaged") +
           (stream_.msg != nullptr ? std::string(" (") + stream_.msg + ")" : ""));
    }
  }
  if (done > 0) {  // zlib takes a null pointer, which an empty target may be, as "start anew"
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, static_cast<const Bytef*>(target), done));
  }
  return done;
}

void Inflater::read(void* target, std::size_t size) {
  const std::size_t came = some(target, size);
  if (came < size) {
    fail("the packed data ends " + std::to_string(size - came) + " bytes before the stated size");
  }
}

void Inflater::finish() {
  std::byte more;
  if (!ended_ && some(&more, 1) != 0) fail("the packed data goes on beyond the stated size");
  if (!rest_.empty() || stream_.avail_in != 0) fail("bytes follow the end of the packed data");
}

}  // namespace volvelle
