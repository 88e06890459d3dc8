#include "io/npz.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "io/inflate.h"
#include "io/message_text.h"
#include "io/npy.h"
#include "io/stored_array.h"
#include "io/zip.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

void check_crc(const Source& member, std::uint64_t offset, std::uint32_t expected,
               std::uint32_t found) {
  if (expected != found) {
    throw FormatError(member.name, static_cast<std::int64_t>(offset),
                      "the checksum (CRC-32) does not match: the file is damaged");
  }
}

// Unpacks the header first, so that what it states is checked before the array is allocated.
Tensor read_deflated(const ZipMember& member, const std::string& name, const NpzOptions& options) {
  Inflater inflater(member.data, name, member.offset);
  std::vector<std::byte> head(std::min<std::uint64_t>(member.size, kNpyPrefix));
  inflater.read(head.data(), head.size());
  const std::size_t known = head.size();
  head.resize(npy_header_bytes({name, head}, member.size));
  if (head.size() > known) inflater.read(head.data() + known, head.size() - known);
  const NpyHeader header = parse_npy_header({name, head}, member.size);

  Tensor stored(header.dtype, header.shape);
  inflater.read(stored.raw(), stored.bytes());
  inflater.finish();
  if (options.check_crc) check_crc({name, {}}, member.offset, member.crc, inflater.crc());
  check_booleans(stored, name, head.size());
  return arranged(stored, header);
}

Tensor read_stored(const ZipMember& member, const std::string& name, const NpzOptions& options,
                   const std::shared_ptr<void>& owner) {
  const Source source{name, member.data, owner};
  if (options.check_crc) {
    const auto found = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(member.data.data()), member.data.size()));
    check_crc(source, member.offset, member.crc, found);
  }
  return parse_npy(source);
}

}  // namespace

NamedArrays parse_npz(const Source& source, const NpzOptions& options) {
  const std::vector<ZipMember> members = list_zip(source);
  const auto is_torch = [](const ZipMember& member) { return member.name.ends_with("/data.pkl"); };
  if (std::any_of(members.begin(), members.end(), is_torch)) {
    throw FormatError(source.name, -1,
                      "this is a PyTorch checkpoint (a zip archive around a pickle), which is not "
                      "read; save with safetensors.torch.save_file or numpy.savez");
  }
  NamedArrays arrays;
  arrays.reserve(members.size());
  std::unordered_set<std::string> names;
  for (const ZipMember& member : members) {
    std::string name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!is_utf8(name)) {
      throw FormatError(source.name, -1, "the member name " + in_quotes(name) + " is not UTF-8");
    }
    if (!names.insert(name).second) {
      throw FormatError(source.name, -1, "two members are called " + in_quotes(name));
    }
    const std::string shown = source.name + ": member " + in_quotes(member.name);
    Tensor array = member.method == ZipMember::Method::deflated
                       ? read_deflated(member, shown, options)
                       : read_stored(member, shown, options, source.owner);
    arrays.push_back({std::move(name), std::move(array)});
  }
  return arrays;
}

}  // namespace volvelle
