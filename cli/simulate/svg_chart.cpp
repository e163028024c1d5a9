#include "cli/simulate/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace chipweave::cli {
namespace {

constexpr double kWidth = 620;
constexpr double kHeight = 300;
constexpr double kLeft = 52;  // margins around the plot
constexpr double kRight = 14;
constexpr double kTop = 12;
constexpr double kBottom = 42;

// A step of 1, 2 or 5 times a power of ten, so that `most` takes at most six.
double nice_step(double most) {
  constexpr double kTicks = 6;
  const double raw = most / kTicks;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

struct Scale {
  double most = 1;
  double step = 1;
};

Scale scale_for(double most) {
  if (!(most > 0)) return {};
  const double step = nice_step(most);
  return {std::ceil(most / step - 1e-9) * step, step};
}

struct Plot {
  Scale x, y;
  double at_x(double v) const { return kLeft + v / x.most * (kWidth - kLeft - kRight); }
  double at_y(double v) const {
    return kHeight - kBottom - v / y.most * (kHeight - kTop - kBottom);
  }
};

std::string grid(const Plot& plot, const Axis& x, const Axis& y) {
  std::string out;
  for (int tick = 0; tick * plot.y.step <= plot.y.most + plot.y.step / 2; ++tick) {
    const double v = tick * plot.y.step;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
        kLeft, kWidth - kRight, plot.at_y(v), kLeft - 7, plot.at_y(v) + 4, tick_text(v));
  }
  for (int tick = 0; tick * plot.x.step <= plot.x.most + plot.x.step / 2; ++tick) {
    const double v = tick * plot.x.step;
    out += fmt::format(
        "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        plot.at_x(v), kHeight - kBottom + 17, tick_text(v));
  }
  out += fmt::format(
      "<text class=\"axis\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 6, html_text(x.title));
  out += fmt::format(
      "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(13 {:.1f}) "
      "rotate(-90)\">{}</text>\n",
      (kTop + kHeight - kBottom) / 2, html_text(y.title));
  return out;
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string curves_svg(const std::vector<Curve>& curves, const Axis& x, const Axis& y) {
  double most_x = 0;
  double most_y = 0;
  for (const Curve& curve : curves) {
    for (const auto& [px, py] : curve.points) {
      most_x = std::max(most_x, px * x.scale);
      most_y = std::max(most_y, py * y.scale);
    }
  }
  const Plot plot{scale_for(most_x), scale_for(most_y)};
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n", kWidth, kHeight) +
      grid(plot, x, y);
  for (const Curve& curve : curves) {
    out += fmt::format("<polyline class=\"curve {}\" points=\"", curve.colour);
    for (const auto& [px, py] : curve.points)
      out += fmt::format("{:.1f},{:.1f} ", plot.at_x(px * x.scale), plot.at_y(py * y.scale));
    out += fmt::format("\"><title>{}</title></polyline>\n", html_text(curve.name));
  }
  return out + "</svg>\n";
}

std::string bars_svg(const std::vector<Bar>& bars) {
  constexpr double kRow = 30;
  constexpr double kBar = 18;
  constexpr double kNames = 92;
  constexpr double kTexts = 150;
  double most = 0;
  for (const Bar& bar : bars) most = std::max({most, bar.value, bar.mark});
  if (!(most > 0)) most = 1;
  const double height = kRow * static_cast<double>(bars.size());
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n", kWidth, height);
  double top = (kRow - kBar) / 2;
  for (const Bar& bar : bars) {
    const auto at = [most](double v) { return kNames + v / most * (kWidth - kNames - kTexts); };
    out += fmt::format(
        "<text class=\"name\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
        "<rect class=\"track\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "rx=\"3\"/>",
        kNames - 8, top + kBar - 5, html_text(bar.name), kNames, top, at(most) - kNames, kBar);
    out += fmt::format(
        "<rect class=\"bar {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "rx=\"3\"/>",
        bar.colour, kNames, top, at(bar.value) - kNames, kBar);
    if (bar.mark > 0) {
      out += fmt::format(
          "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>",
          at(bar.mark), top - 3, top + kBar + 3);
    }
    out += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       kWidth - kTexts + 10, top + kBar - 5, html_text(bar.text));
    top += kRow;
  }
  return out + "</svg>\n";
}

}  // namespace chipweave::cli
