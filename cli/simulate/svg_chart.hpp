// Charts as SVG text for an HTML page: curves over a number, and bars by name. Colours and fonts
// are classes of the page's style sheet (html_report.cpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chipweave::cli {

struct Curve {
  std::string name;
  std::string colour;  // class
  std::vector<std::pair<double, double>> points;
};

struct Axis {
  std::string title;
  double scale = 1;  // values are multiplied by it, e.g. 100 for %
};

// Curves from 0 on both axes, the last one on top.
std::string curves_svg(const std::vector<Curve>& curves, const Axis& x, const Axis& y);

struct Bar {
  std::string name;
  std::string colour;
  double value = 0;
  double mark = 0;  // a line across the bar, e.g. the oracle's value; 0: none
  std::string text;
};

// Horizontal bars from 0, with their text behind.
std::string bars_svg(const std::vector<Bar>& bars);

// Text inside HTML or SVG, with <, >, &, and quotes escaped.
std::string html_text(const std::string& text);

}  // namespace chipweave::cli
