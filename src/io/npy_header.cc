#include "io/npy_header.h"

#include <charconv>
#include <string_view>

#include "io/file_kind.h"
#include "io/message_text.h"
#include "io/npy_descr.h"
#include "io/stored_array.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// A plain array's header is about 128 bytes; NumPy itself refuses more than 10,000.
constexpr std::size_t kLongestHeader = 65536;

// Reads the one Python literal that a header is: {'descr': '<f4', 'fortran_order': False,
// 'shape': (2, 3), }.
class LiteralReader {
 public:
  LiteralReader(const Source& header, std::size_t start)
      : name_(header.name),
        text_(reinterpret_cast<const char*>(header.bytes.data()), header.bytes.size()),
        at_(start) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !have_descr_) {
        have_descr_ = true;
        read_descr();
      } else if (key == "fortran_order" && !have_order_) {
        have_order_ = true;
        header_.fortran_order = boolean();
      } else if (key == "shape" && !have_shape_) {
        have_shape_ = true;
        read_shape();
      } else {
        fail("key " + in_quotes(key) +
             " is unknown or repeated; expected descr, fortran_order and "
             "shape, once each");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail("text after the header's closing brace");
    if (!have_descr_ || !have_order_ || !have_shape_) {
      fail("the header lacks descr, fortran_order or shape");
    }
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(name_, static_cast<std::int64_t>(at_), problem);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("the header is damaged, expected '") + wanted + "'");
  }

  std::string_view string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("the header is damaged, expected a quoted text");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("the header is damaged, a quoted text has no end");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return content;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("fortran_order must be True or False");
  }

  void read_descr() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      fail(
          "a structured array (records with named fields) is not read; save each field as an "
          "array of its own");
    }
    const std::size_t start = at_;
    const std::string_view descr = string();
    const std::optional<DType> dtype = dtype_of_descr(descr);
    if (!dtype) {
      at_ = start;
      fail(why_unsupported(descr));
    }
    header_.dtype = *dtype;
    header_.big_endian = descr[0] == '>' && size_of(*dtype) > 1;
  }

  void read_shape() {
    expect('(');
    while (!accept(')')) {
      std::int64_t axis = 0;
      skip_blanks();
      const char* end = text_.data() + text_.size();
      const auto [stop, problem] = std::from_chars(text_.data() + at_, end, axis);
      if (problem != std::errc() || axis < 0) fail("an axis of the shape is not a count");
      if (header_.shape.rank() == Axes::kMaxRank) {
        fail("the array has more than " + std::to_string(Axes::kMaxRank) + " axes");
      }
      header_.shape.push_back(axis);
      at_ = static_cast<std::size_t>(stop - text_.data());
      accept('L');  // Python 2 wrote its long integers so
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t at_;
  NpyHeader header_;
  bool have_descr_ = false, have_order_ = false, have_shape_ = false;
};

// Where the literal starts: behind magic, version and a length of two or four bytes.
std::size_t literal_start(Bytes bytes) { return bytes[6] == std::byte{1} ? 10 : 12; }

}  // namespace

std::size_t npy_header_bytes(const Source& prefix, std::uint64_t total) {
  const std::string_view start(reinterpret_cast<const char*>(prefix.bytes.data()),
                               prefix.bytes.size());
  if (!start.starts_with(kMagic)) throw_mislabelled(prefix, ".npy", "'\\x93NUMPY'");
  const auto truncated = [&](std::uint64_t wanted) -> FormatError {
    return {prefix.name, static_cast<std::int64_t>(total),
            "the file is truncated: its header takes " + std::to_string(wanted) +
                " bytes and the file has " + std::to_string(total)};
  };
  if (start.size() < 10) throw truncated(10);
  const int major = std::to_integer<int>(prefix.bytes[6]);
  const int minor = std::to_integer<int>(prefix.bytes[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw FormatError(prefix.name, 6,
                      ".npy version " + std::to_string(major) + "." + std::to_string(minor) +
                          " is unknown; 1.0, 2.0 and 3.0 are read");
  }
  const std::size_t literal = literal_start(prefix.bytes);
  if (start.size() < literal) throw truncated(literal);
  const std::size_t length =
      major == 1 ? load<std::uint16_t>(prefix.bytes, 8) : load<std::uint32_t>(prefix.bytes, 8);
  if (literal + length > total) throw truncated(literal + length);
  if (length > kLongestHeader) {
    throw FormatError(prefix.name, 8,
                      "a header of " + std::to_string(length) + " bytes, expected at most " +
                          std::to_string(kLongestHeader) + " (a plain array needs 128)");
  }
  return literal + length;
}

NpyHeader parse_npy_header(const Source& header, std::uint64_t total) {
  NpyHeader result = LiteralReader(header, literal_start(header.bytes)).read();
  const std::uint64_t rest = total - header.bytes.size();
  const std::optional<std::uint64_t> wanted = array_bytes(result.shape, result.dtype);
  if (!wanted || *wanted != rest) {
    const std::string array = to_string(result.shape) + " of " + std::string(name_of(result.dtype));
    const std::string needs =
        wanted ? "needs " + std::to_string(*wanted) + " bytes" : "does not fit 63 bits";
    const std::string why = wanted && *wanted < rest
                                ? "bytes follow the array (numpy.save called twice on one file?): "
                                : "the file is truncated: ";
    throw FormatError(header.name, static_cast<std::int64_t>(header.bytes.size()),
                      why + array + " " + needs + ", the file has " + std::to_string(rest));
  }
  return result;
}

std::string npy_header_for(DType dtype, const Shape& shape) {
  const std::string_view descr = descr_of(dtype);
  if (descr.empty()) {
    throw InternalError("[npy] no descr for " + std::string(name_of(dtype)) +
                        "; please report this");
  }
  std::string literal =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) literal += ' ';
    literal += std::to_string(shape[axis]);
    if (axis + 1 < shape.rank() || shape.rank() == 1) literal += ',';
  }
  literal += "), }";
  // Room for the first axis to grow to 21 digits, which NumPy leaves in its own headers.
  if (shape.rank() > 0) literal.append(21 - std::to_string(shape[0]).size(), ' ');
  const std::size_t unpadded = 10 + literal.size() + 1;
  literal.append((64 - unpadded % 64) % 64, ' ');
  literal += '\n';
  std::string header(kMagic);
  header += {'\x01', '\0'};
  header += static_cast<char>(literal.size() & 0xFF);
  header += static_cast<char>(literal.size() >> 8);
  return header + literal;
}

}  // namespace volvelle
