#pragma once

#include <string>
#include <vector>

namespace volvelle {

/// Colours of series that people who confuse red and green can tell apart.
/// Source: Okabe and Ito 2008, Color Universal Design.
const char* series_colour(std::size_t i);

/// A colour between dark blue (0) and yellow (1) whose lightness grows evenly.
/// Source: cividis, Nunez, Anderton and Renslow 2018, doi:10.1371/journal.pone.0199239.
std::string scale_colour(double share);
bool is_dark(double share);  ///< whether white text reads better on it

enum class TextAnchor { start, middle, end };

struct SvgText {
  double x = 0, y = 0;  ///< of the base line
  double size = 13;
  TextAnchor anchor = TextAnchor::start;
  std::string colour = "#333333";
  bool bold = false;
  double turned = 0;  ///< degrees, about (x, y)
};

/// About how wide it is drawn; letters are not measured.
double svg_text_width(const std::string& text, double size);

/// The marks of one picture, in the order in which they are drawn. Units are pixels.
class SvgPage {
 public:
  void text(const std::string& text, const SvgText& how);
  void line(double x1, double y1, double x2, double y2, const std::string& colour,
            double width = 1);
  void box(double x, double y, double width, double height, const std::string& fill);
  void circle(double x, double y, double radius, const std::string& colour);
  void frame(double x, double y, double width, double height, const std::string& colour);
  struct Point {
    double x, y;
  };
  void path(const std::vector<Point>& points, const std::string& colour, const std::string& dashes);
  void area(const std::vector<Point>& points, const std::string& fill, double opacity);
  /// A small sign at a point, another for each i, so that colour is not all that tells series
  /// apart.
  void sign(double x, double y, std::size_t i);

  /// The whole document, white behind everything; `title` is what screen readers say.
  std::string document(double width, double height, const std::string& title) const;

 private:
  std::string body_;
};

/// Dashes of the i-th line: the first few are told apart by sign and colour alone.
const char* series_dashes(std::size_t i);

}  // namespace volvelle
