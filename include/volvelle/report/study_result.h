#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// A cell of a study's table.
using StudyCell =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

/// How numbers of a column stand in text; JSON and CSV have them in full.
enum class StudyForm : std::uint8_t {
  fixed,       ///< as many digits after the point as the column says: "0.080"
  percent,     ///< a share of 1 times 100, with a sign: "77%"
  rounded,     ///< the same digits at most, zeros at the end left out: "0.9"
  scientific,  ///< behind the point of a mantissa: "1.374e+11"
};

struct StudyColumn {
  std::string key;    ///< in JSON and CSV: "median"
  std::string title;  ///< in text; empty: not shown there
  int digits = 4;     ///< after the point, in text
  StudyForm form = StudyForm::fixed;
};

struct StudyTable {
  std::string key;  ///< in JSON; the main table's is "rows"
  std::string title;
  std::vector<StudyColumn> columns;
  std::vector<std::vector<StudyCell>> rows;
  /// Columns at the left that say which row it is: where a table is too wide for the page, its
  /// further parts begin with them again.
  int identifying = 1;
  int text_rows = 64;  ///< shown in text; more are left out in the middle. 0: not shown there
  std::vector<std::size_t> shown = {};  ///< the places of rows that text shows; empty: by text_rows
};

/// A line of a chart, with a band if low and high are there.
struct StudySeries {
  std::string label = {};
  std::vector<double> x = {}, y = {}, low = {}, high = {};
};

struct StudyChart {
  /// Hands: a heat map's cells as the hands of clocks, angles in radians, counter-clockwise from
  /// three o'clock.
  enum class Kind : std::uint8_t { lines, bars, heat_map, hands };
  Kind kind = Kind::lines;
  std::string key = {};  ///< names it in JSON
  std::string title = {}, x_label = {}, y_label = {};
  bool log_x = false, log_y = false;     ///< lines only: bars begin at 0
  std::vector<StudySeries> series = {};  ///< of lines; of bars: y has one for each column
  /// Labels of a heat map or of hands; of bars: columns only.
  std::vector<std::string> columns = {}, lines = {};
  /// Values of the two ends of a heat map's shades; equal: the least and the largest cell.
  double shades_from = 0, shades_to = 0;
  std::vector<std::vector<double>> cells = {};  ///< heat map, hands: [line][column], NaN: none
  std::vector<std::vector<std::string>> cell_labels = {};  ///< absent: the numbers
  bool in_text = true;                                     ///< drawn on the terminal as well
};

/// The same measurement on something that must fail the named check.
struct StudyControl {
  std::string what = {};     ///< what was done
  std::string check = {};    ///< the check that it must fail
  bool failed = false;       ///< whether it did; if not, the study proves nothing
  std::string figures = {};  ///< what was seen
  std::vector<StudyTable> tables = {};
};

/// What a study found, as data: renderers print it.
struct StudyResult {
  std::string name = {};                                        ///< "norm-placement"
  std::string question = {};                                    ///< one sentence
  std::vector<std::pair<std::string, std::string>> setup = {};  ///< what was measured on
  std::vector<std::pair<std::string, StudyCell>> facts = {};    ///< single figures, by JSON key
  std::vector<StudyTable> tables = {};
  std::vector<StudyChart> charts = {};
  std::vector<StudyControl> controls = {};
  std::vector<std::string> reading = {};  ///< sentences computed from the figures
  std::vector<std::string> limits = {};
  bool complete = true;  ///< false: stopped early, with what there was
};

}  // namespace volvelle
