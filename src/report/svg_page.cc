#include "report/svg_page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::array kSeries{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#E69F00", "#56B4E9", "#6B6B6B", "#000000"};

struct Rgb {
  int r, g, b;
};
constexpr std::array kCividis{Rgb{0, 34, 78},     Rgb{31, 56, 112},   Rgb{77, 79, 108},
                              Rgb{107, 105, 112}, Rgb{140, 133, 119}, Rgb{176, 162, 112},
                              Rgb{212, 194, 95},  Rgb{254, 232, 56}};

std::string at(double value) { return rounded(value, 1); }

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // Control characters are not allowed in XML.
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string points_text(const std::vector<SvgPage::Point>& points) {
  std::string text;
  for (const SvgPage::Point& point : points) {
    text += (text.empty() ? "" : " ") + at(point.x) + ',' + at(point.y);
  }
  return text;
}

}  // namespace

const char* series_colour(std::size_t i) { return kSeries[i % kSeries.size()]; }

const char* series_dashes(std::size_t i) {
  static constexpr std::array kDashes{"", "7 3", "2 3", "9 3 2 3"};
  return kDashes[i / kSeries.size() % kDashes.size()];
}

std::string scale_colour(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (kCividis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kCividis.size() - 2);
  const double rest = place - static_cast<double>(below);
  const auto mixed = [&](int from, int to) {
    return static_cast<int>(std::lround(from + (to - from) * rest));
  };
  const Rgb &a = kCividis[below], &b = kCividis[below + 1];
  const int parts[] = {mixed(a.r, b.r), mixed(a.g, b.g), mixed(a.b, b.b)};
  static const char kHex[] = "0123456789abcdef";
  std::string text = "#";
  for (const int part : parts) {
    text += kHex[part / 16];
    text += kHex[part % 16];
  }
  return text;
}

bool is_dark(double share) { return share < 0.55; }

double svg_text_width(const std::string& text, double size) {
  return 0.56 * size * static_cast<double>(text.size());
}

void SvgPage::text(const std::string& text, const SvgText& how) {
  if (text.empty()) return;
  static constexpr std::array kAnchors{"start", "middle", "end"};
  body_ += "<text x=\"" + at(how.x) + "\" y=\"" + at(how.y) + "\" font-size=\"" + at(how.size) +
           "\" fill=\"" + how.colour + "\" text-anchor=\"" +
           kAnchors[static_cast<std::size_t>(how.anchor)] + '"';
  if (how.bold) body_ += " font-weight=\"bold\"";
  if (how.turned != 0) {
    body_ += " transform=\"rotate(" + at(how.turned) + ' ' + at(how.x) + ' ' + at(how.y) + ")\"";
  }
  body_ += '>' + escaped(text) + "</text>\n";
}

void SvgPage::line(double x1, double y1, double x2, double y2, const std::string& colour,
                   double width) {
  body_ += "<line x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) + "\" y2=\"" +
           at(y2) + "\" stroke=\"" + colour + "\" stroke-width=\"" + at(width) + "\"/>\n";
}

void SvgPage::box(double x, double y, double width, double height, const std::string& fill) {
  body_ += "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(width) + "\" height=\"" +
           at(height) + "\" fill=\"" + fill + "\"/>\n";
}

void SvgPage::frame(double x, double y, double width, double height, const std::string& colour) {
  body_ += "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(width) + "\" height=\"" +
           at(height) + "\" fill=\"none\" stroke=\"" + colour + "\"/>\n";
}

void SvgPage::circle(double x, double y, double radius, const std::string& colour) {
  body_ += "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"" + at(radius) +
           "\" fill=\"none\" stroke=\"" + colour + "\"/>\n";
}

void SvgPage::path(const std::vector<Point>& points, const std::string& colour,
                   const std::string& dashes) {
  if (points.size() < 2) return;
  body_ += "<polyline points=\"" + points_text(points) + "\" fill=\"none\" stroke=\"" + colour +
           "\" stroke-width=\"2\" stroke-linejoin=\"round\"";
  if (!dashes.empty()) body_ += " stroke-dasharray=\"" + dashes + '"';
  body_ += "/>\n";
}

void SvgPage::area(const std::vector<Point>& points, const std::string& fill, double opacity) {
  if (points.size() < 3) return;
  body_ += "<polygon points=\"" + points_text(points) + "\" fill=\"" + fill + "\" fill-opacity=\"" +
           rounded(opacity, 2) + "\"/>\n";
}

void SvgPage::sign(double x, double y, std::size_t i) {
  const std::string fill = std::string("\" fill=\"") + series_colour(i) + "\"/>\n";
  switch (i % 4) {
    case 0:
      body_ += "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"3.5" + fill;
      break;
    case 1:
      body_ +=
          "<polygon points=\"" +
          points_text(
              {{x - 3.3, y - 3.3}, {x + 3.3, y - 3.3}, {x + 3.3, y + 3.3}, {x - 3.3, y + 3.3}}) +
          fill;
      break;
    case 2:
      body_ += "<polygon points=\"" +
               points_text({{x, y - 4.4}, {x + 4.2, y + 3.3}, {x - 4.2, y + 3.3}}) + fill;
      break;
    default:
      body_ += "<polygon points=\"" +
               points_text({{x, y - 4.6}, {x + 4.6, y}, {x, y + 4.6}, {x - 4.6, y}}) + fill;
  }
}

std::string SvgPage::document(double width, double height, const std::string& title) const {
  const std::string size = at(width) + ' ' + at(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(width) + "\" height=\"" +
         at(height) + "\" viewBox=\"0 0 " + size +
         "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>" +
         escaped(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         body_ + "</svg>\n";
}

}  // namespace volvelle
