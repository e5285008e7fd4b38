#include "stiction/app/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace stiction {
namespace {

constexpr double kWidth = 640, kHeight = 440;
constexpr double kLeft = 78, kRight = 20, kTop = 36, kBottom = 52;  // [px] margins

/// Data range of one axis and its map to pixels.
struct Axis {
  double low = 0, high = 1;
  double pixel_low = 0, pixel_high = 1;
  double step = 1;  // between ticks

  double pixel(double value) const {
    return pixel_low + (value - low) / (high - low) * (pixel_high - pixel_low);
  }
};

/// The largest of 1, 2, 5 × 10^k that gives at least `min_ticks` ticks.
double round_step(double range, int min_ticks) {
  const double raw = range / min_ticks;
  const double decade = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {5.0, 2.0})
    if (factor * decade <= raw) return factor * decade;
  return decade;
}

Axis make_axis(std::span<const double> values, double pixel_low, double pixel_high) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Axis axis{values.empty() ? 0 : *low, values.empty() ? 1 : *high, pixel_low, pixel_high};
  // A constant curve gets a range around it.
  const double size = std::max(std::abs(axis.low), std::abs(axis.high));
  if (axis.high - axis.low <= 1e-12 * size || axis.high == axis.low) {
    const double half = size > 0 ? 0.5 * size : 0.5;
    axis.low -= half;
    axis.high += half;
  }
  const double margin = 0.03 * (axis.high - axis.low);
  axis.low -= margin;
  axis.high += margin;
  axis.step = round_step(axis.high - axis.low, 5);
  return axis;
}

/// Text for XML, which has no place for control characters.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string tick_label(double value, double step) {
  return fmt::format("{:.6g}", std::abs(value) < 1e-9 * step ? 0.0 : value);
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> values;
  const auto first = static_cast<long>(std::ceil(axis.low / axis.step));
  for (long i = first; static_cast<double>(i) * axis.step <= axis.high; ++i)
    values.push_back(static_cast<double>(i) * axis.step);
  return values;
}

std::string draw_grid(const Axis& x, const Axis& y) {
  std::string out;
  for (const double v : ticks(x)) {
    const double px = x.pixel(v);
    out += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#ddd'/>\n", px,
                       kTop, kHeight - kBottom);
    out += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", px,
                       kHeight - kBottom + 18, tick_label(v, x.step));
  }
  for (const double v : ticks(y)) {
    const double py = y.pixel(v);
    out += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' stroke='#ddd'/>\n", py,
                       kLeft, kWidth - kRight);
    out += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n", kLeft - 6, py + 4,
                       tick_label(v, y.step));
  }
  return out;
}

std::string draw_curve(const Plot& plot, const Axis& x, const Axis& y) {
  std::string points;
  double last_x = -1e9, last_y = -1e9;
  const std::size_t n = std::min(plot.x.size(), plot.y.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double px = x.pixel(plot.x[i]), py = y.pixel(plot.y[i]);
    if (i + 1 < n && std::hypot(px - last_x, py - last_y) < 1.0 / 3) continue;
    points += fmt::format("{:.1f},{:.1f} ", px, py);
    last_x = px;
    last_y = py;
  }
  return "<polyline fill='none' stroke='#1f5fa8' stroke-width='1.2' stroke-linejoin='round' "
         "points='" +
         points + "'/>\n";
}

}  // namespace

std::string to_svg(const Plot& plot) {
  const Axis x = make_axis(plot.x, kLeft, kWidth - kRight);
  const Axis y = make_axis(plot.y, kHeight - kBottom, kTop);
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='12' fill='#333'>\n<rect width='{0}' height='{1}' "
      "fill='white'/>\n",
      kWidth, kHeight);
  svg += draw_grid(x, y);
  svg += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#888'/>\n",
                     kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  svg += draw_curve(plot, x, y);
  svg += fmt::format("<text x='{}' y='22' text-anchor='middle' font-size='14'>{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, escaped(plot.title));
  svg += fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 12, escaped(plot.x_label));
  svg +=
      fmt::format("<text transform='translate(18,{}) rotate(-90)' text-anchor='middle'>{}</text>\n",
                  (kTop + kHeight - kBottom) / 2, escaped(plot.y_label));
  return svg + "</svg>\n";
}

}  // namespace stiction
