#include "io/csv.h"

#include <string_view>

#include "io/file_kind.h"
#include "io/message_text.h"
#include "io/number_list.h"
#include "io/number_text.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// What separates the numbers of a line. A tab counts only where no comma or semicolon does, a
// blank only where nothing else does.
char separator_of(std::string_view line) {
  for (const char separator : {';', ',', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

class CsvReader {
 public:
  CsvReader(const Source& source, DType number_dtype)
      : name_(source.name),
        text_(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size()),
        number_dtype_(number_dtype) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // byte order mark
  }

  Tensor read() {
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = text_.find('\n');
      const std::string_view line = text_.substr(0, end);
      text_ = end == std::string_view::npos ? std::string_view() : text_.substr(end + 1);
      read_line(trimmed(line.substr(0, line.find('#'))));
    }
    if (rows_ == 0) throw FormatError(name_, -1, "the file holds no numbers");
    if (const auto bad = numbers_.first_beyond(number_dtype_)) {
      const auto index = static_cast<std::int64_t>(*bad);
      throw FormatError(name_, -1,
                        "row " + std::to_string(index / columns_ + 1) + ", column " +
                            std::to_string(index % columns_ + 1) + " is beyond the range of " +
                            std::string(name_of(number_dtype_)) + "; read it as float64");
    }
    return numbers_.finish({rows_, columns_}, number_dtype_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(name_, -1, "line " + std::to_string(line_) + ": " + problem);
  }

  void read_line(std::string_view line) {
    if (line.empty()) return;
    if (rows_ == 0) separator_ = separator_of(line);
    column_ = 0;
    while (true) {
      const std::size_t end =
          separator_ == ' ' ? line.find_first_of(kBlanks) : line.find(separator_);
      read_cell(trimmed(line.substr(0, end)));
      if (end == std::string_view::npos) break;
      line.remove_prefix(end + 1);
      if (separator_ == ' ') line = trimmed(line);
    }
    if (rows_ == 0) {
      columns_ = column_;
      first_line_ = line_;
    } else if (column_ != columns_) {
      fail("ragged rows: this one has " + std::to_string(column_) +
           (column_ == 1 ? " number" : " numbers") + ", line " + std::to_string(first_line_) +
           " has " + std::to_string(columns_));
    }
    ++rows_;
  }

  void read_cell(std::string_view cell) {
    ++column_;
    const std::string where = "column " + std::to_string(column_);
    if (cell.empty()) fail(where + " is empty");
    const NumberText number = read_number(cell);
    if (const auto* integer = std::get_if<std::int64_t>(&number)) {
      numbers_.add_integer(*integer);
    } else if (const auto* real = std::get_if<double>(&number)) {
      numbers_.add_real(*real);
    } else if (std::holds_alternative<TooLarge>(number)) {
      fail(where + ", " + in_quotes(cell) + ", is beyond the range of float64");
    } else {
      fail(where + ", " + in_quotes(cell) + ", is not a number" + hint(cell));
    }
  }

  std::string hint(std::string_view cell) const {
    if (cell.find(',') != std::string_view::npos) return " (a decimal comma? write a point)";
    if (cell.find_first_of(kBlanks) != std::string_view::npos) {
      return std::string(" (the file's first row is separated by '") +
             (separator_ == '\t' ? std::string("\\t") : std::string(1, separator_)) + "')";
    }
    return rows_ == 0 ? " (a heading? start it with #)" : "";
  }

  const std::string& name_;
  std::string_view text_;
  DType number_dtype_;
  NumberList numbers_;
  std::int64_t line_ = 0, first_line_ = 0, rows_ = 0, columns_ = 0, column_ = 0;
  char separator_ = ',';
};

}  // namespace

Tensor parse_csv(const Source& source, const ReadOptions& options) {
  check_number_dtype(options.number_dtype);
  refuse_binary(source, ".csv");
  if (kind_of(source.bytes) == FileKind::json) throw_mislabelled(source, ".csv", "");
  if (source.bytes.size() > options.max_text_bytes) {
    throw FormatError(source.name, -1,
                      "CSV of " + std::to_string(source.bytes.size()) +
                          " bytes is beyond the limit of " +
                          std::to_string(options.max_text_bytes) +
                          "; use .npy (or raise ReadOptions::max_text_bytes)");
  }
  return CsvReader(source, options.number_dtype).read();
}

}  // namespace volvelle
