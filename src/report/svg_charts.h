#pragma once

#include "report/svg_page.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// The page that every chart shares.
inline constexpr double kSvgWidth = 760;
inline constexpr double kSvgMargin = 24;

/// Each draws a checked chart below its title, from `top` on, and returns where it ends.
double draw_lines(SvgPage& page, const StudyChart& chart, double top);
double draw_bars(SvgPage& page, const StudyChart& chart, double top);
double draw_hands(SvgPage& page, const StudyChart& chart, double top);
double draw_heat_map(SvgPage& page, const StudyChart& chart, double top);

/// Names of series with their signs, in as many rows as they need; returns where they end.
double draw_legend(SvgPage& page, const StudyChart& chart, double left, double top);

}  // namespace volvelle
