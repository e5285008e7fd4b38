#include "stiction/app/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace stiction {
namespace {

constexpr double kWidth = 640, kHeight = 440;
constexpr double kLeft = 78, kRight = 20, kTop = 36, kBottom = 52;  // [px] margins

/// Data range of one axis and its map to pixels. Of a logarithmic axis all numbers but pixels are
/// decimal logarithms.
struct Axis {
  double low = 0, high = 1;
  double pixel_low = 0, pixel_high = 1;
  double step = 1;  // between ticks

  double pixel(double value) const {
    return pixel_low + (value - low) / (high - low) * (pixel_high - pixel_low);
  }
};

struct Tick {
  double at = 0;
  std::string label;  // SVG; empty for a line without
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

/// A logarithmic axis over the logarithms `values`: at least one decade, so that ticks have a
/// place.
Axis make_log_axis(std::span<const double> values, double pixel_low, double pixel_high) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Axis axis{values.empty() ? -1 : *low, values.empty() ? 0 : *high, pixel_low, pixel_high};
  const double margin = std::max(0.04 * (axis.high - axis.low), 0.5 - 0.5 * (axis.high - axis.low));
  axis.low -= margin;
  axis.high += margin;
  axis.step = std::max(1.0, std::ceil((axis.high - axis.low) / 10));
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

std::vector<Tick> ticks(const Axis& axis) {
  std::vector<Tick> found;
  const auto first = static_cast<long>(std::ceil(axis.low / axis.step));
  for (long i = first; static_cast<double>(i) * axis.step <= axis.high; ++i) {
    const double value = static_cast<double>(i) * axis.step;
    found.push_back({value, tick_label(value, axis.step)});
  }
  return found;
}

/// Powers of ten; between them 2 and 5 where decades are wide, and the other digits as bare lines.
std::vector<Tick> log_ticks(const Axis& axis) {
  std::vector<Tick> found;
  const double decades = axis.high - axis.low;
  const auto step = static_cast<long>(axis.step);
  for (auto k = static_cast<long>(std::floor(axis.low)); static_cast<double>(k) <= axis.high; ++k)
    for (int digit = 1; digit <= (decades < 5 ? 9 : 1); ++digit) {
      const double at = static_cast<double>(k) + std::log10(digit);
      if (at < axis.low || at > axis.high) continue;
      const bool is_labelled =
          digit == 1 ? k % step == 0 : decades < 2 && digit % 3 == 2 && digit < 8;
      const std::string factor = digit == 1 ? "" : fmt::format("{}·", digit);
      found.push_back({at, !is_labelled ? ""
                                        : fmt::format("{}10<tspan dy='-5' font-size='9'>{}</tspan>",
                                                      factor, k)});
    }
  return found;
}

std::string draw_grid(const Axis& x, const std::vector<Tick>& x_ticks, const Axis& y,
                      const std::vector<Tick>& y_ticks) {
  std::string out;
  const auto color = [](const Tick& tick) { return tick.label.empty() ? "#f0f0f0" : "#ddd"; };
  for (const Tick& tick : x_ticks) {
    const double px = x.pixel(tick.at);
    out += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='{3}'/>\n", px,
                       y.pixel_high, y.pixel_low, color(tick));
    if (tick.label.empty()) continue;
    out += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", px,
                       y.pixel_low + 18, tick.label);
  }
  for (const Tick& tick : y_ticks) {
    const double py = y.pixel(tick.at);
    out += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' stroke='{3}'/>\n", py,
                       x.pixel_low, x.pixel_high, color(tick));
    if (tick.label.empty()) continue;
    out += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n", x.pixel_low - 6,
                       py + 4, tick.label);
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

std::string begin_svg(double width, double height) {
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='12' fill='#333'>\n<rect width='{0}' height='{1}' "
      "fill='white'/>\n",
      width, height);
}

std::string draw_frame(const Axis& x, const Axis& y) {
  return fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#888'/>\n",
                     x.pixel_low, y.pixel_high, x.pixel_high - x.pixel_low,
                     y.pixel_low - y.pixel_high);
}

template <class AnyPlot>
std::string draw_titles(const AnyPlot& plot, const Axis& x, const Axis& y) {
  const double middle = (x.pixel_low + x.pixel_high) / 2;
  return fmt::format("<text x='{}' y='22' text-anchor='middle' font-size='14'>{}</text>\n", middle,
                     escaped(plot.title)) +
         fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", middle,
                     y.pixel_low + kBottom - 12, escaped(plot.x_label)) +
         fmt::format(
             "<text transform='translate(18,{}) rotate(-90)' text-anchor='middle'>{}</text>\n",
             (y.pixel_low + y.pixel_high) / 2, escaped(plot.y_label));
}

/// How a series looks: colours that differ for people who do not see all of them, and in grey.
struct Look {
  std::string_view color, dashes;
  int shape = 0;

  explicit Look(const LogLogPlot::Series& series) {
    constexpr std::array<std::string_view, 8> kColors = {
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31"};
    constexpr std::array<std::string_view, 5> kDashes = {"none", "6 3", "2 3", "8 3 2 3", "12 4"};
    color = kColors[static_cast<std::size_t>(series.color) % kColors.size()];
    dashes = kDashes[static_cast<std::size_t>(series.marker) % kDashes.size()];
    shape = series.marker % 5;
  }
};

/// A disc, square, triangle, diamond or cross of about 8 px.
std::string draw_marker(const Look& look, double x, double y) {
  if (look.shape == 0)
    return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3.6' fill='{}'/>\n", x, y, look.color);
  constexpr std::array<std::string_view, 4> kPaths = {"m-3.5,-3.5h7v7h-7z", "m0,-4.5l4.2,7.5h-8.4z",
                                                      "m0,-4.8l4.2,4.8l-4.2,4.8l-4.2,-4.8z",
                                                      "m-3.5,-3.5l7,7m0,-7l-7,7"};
  return fmt::format("<path d='M{:.1f},{:.1f}{}' fill='{}' stroke='{}' stroke-width='1.4'/>\n", x,
                     y, kPaths[static_cast<std::size_t>(look.shape - 1)],
                     look.shape == 4 ? "none" : look.color, look.color);
}

std::string draw_line(const Look& look, const std::string& points) {
  return fmt::format(
      "<polyline fill='none' stroke='{}' stroke-width='1.4' stroke-dasharray='{}' points='{}'/>\n",
      look.color, look.dashes, points);
}

/// Logarithms of the points that have one.
struct LogPoints {
  std::vector<double> x, y;
};

LogPoints log_points(const LogLogPlot::Series& series) {
  LogPoints points;
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    const double x = series.x[i], y = series.y[i];
    if (!(x > 0 && y > 0) || !std::isfinite(x) || !std::isfinite(y)) continue;
    points.x.push_back(std::log10(x));
    points.y.push_back(std::log10(y));
  }
  return points;
}

std::string draw_series(const LogLogPlot::Series& series, const Axis& x, const Axis& y) {
  const Look look(series);
  const LogPoints points = log_points(series);
  std::string line, markers;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double px = x.pixel(points.x[i]), py = y.pixel(points.y[i]);
    line += fmt::format("{:.1f},{:.1f} ", px, py);
    markers += draw_marker(look, px, py);
  }
  return draw_line(look, line) + markers;
}

constexpr double kLegendRow = 20, kLegendMargin = 16, kLegendSample = 34;  // [px]

std::string draw_legend(const LogLogPlot& plot, double left) {
  std::string out;
  double y = kTop + 12;
  for (const LogLogPlot::Series& series : plot.series) {
    const Look look(series);
    out += draw_line(look, fmt::format("{},{} {},{}", left, y, left + kLegendSample, y));
    out += draw_marker(look, left + kLegendSample / 2, y);
    out += fmt::format("<text x='{}' y='{}'>{}</text>\n", left + kLegendSample + 8, y + 4,
                       escaped(series.label));
    y += kLegendRow;
  }
  return out;
}

/// Beside the frame: the sample of the line and the longest label, letters taken as 7 px wide.
double legend_width(const LogLogPlot& plot) {
  std::size_t longest = 0;
  for (const LogLogPlot::Series& series : plot.series)
    longest = std::max(longest, series.label.size());
  return kLegendMargin + kLegendSample + 8 + 7 * static_cast<double>(longest);
}

// -------------------------------------------------------------------------------------------------
// Panels

constexpr double kPanelHeight = 170, kPanelGap = 26;  // [px] the title of a panel is in the gap

/// Both axes from all panels; the pixels of y are those of the first one.
struct PanelAxes {
  Axis x, y;

  explicit PanelAxes(const PanelPlot& plot) {
    std::vector<double> all_x, all_y;
    for (const PanelPlot::Panel& panel : plot.panels)
      for (const PanelPlot::Curve& curve : panel.curves)
        for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
          if (!(curve.y[i] > 0) || !std::isfinite(curve.y[i])) continue;
          all_x.push_back(curve.x[i]);
          all_y.push_back(std::log10(curve.y[i]));
        }
    x = make_axis(all_x, kLeft, kWidth - kRight);
    y = make_log_axis(all_y, kTop + kPanelGap + kPanelHeight, kTop + kPanelGap);
  }
};

std::string draw_panel_curve(const PanelPlot::Curve& curve, std::size_t number, const Axis& x,
                             const Axis& y) {
  LogLogPlot::Series style;
  style.color = static_cast<int>(number);
  style.marker = static_cast<int>(number);
  std::string points;
  double last_x = -1e9, last_y = -1e9;
  const std::size_t n = std::min(curve.x.size(), curve.y.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (!(curve.y[i] > 0) || !std::isfinite(curve.y[i])) continue;
    const double px = x.pixel(curve.x[i]), py = y.pixel(std::log10(curve.y[i]));
    if (i + 1 < n && std::hypot(px - last_x, py - last_y) < 1.0 / 3) continue;
    points += fmt::format("{:.1f},{:.1f} ", px, py);
    last_x = px;
    last_y = py;
  }
  return draw_line(Look(style), points);
}

std::string draw_linear_curve(const LinePlot::Curve& curve, std::size_t number, const Axis& x,
                              const Axis& y) {
  LogLogPlot::Series style;
  style.color = style.marker = static_cast<int>(number);
  std::string points;
  double last_x = -1e9, last_y = -1e9;
  const std::size_t n = std::min(curve.x.size(), curve.y.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) continue;
    const double px = x.pixel(curve.x[i]), py = y.pixel(curve.y[i]);
    if (i + 1 < n && std::hypot(px - last_x, py - last_y) < 1.0 / 3) continue;
    points += fmt::format("{:.1f},{:.1f} ", px, py);
    last_x = px;
    last_y = py;
  }
  return draw_line(Look(style), points);
}

/// Marks closer than half a pixel are one line.
std::string draw_marks(std::span<const double> marks, const Axis& x, const Axis& y) {
  std::string path;
  double last = -1e9;
  for (const double mark : marks) {
    const double px = x.pixel(mark);
    if (px - last < 0.5) continue;
    path += fmt::format("M{:.1f},{:.1f}V{:.1f}", px, y.pixel_low, y.pixel_high);
    last = px;
  }
  return path.empty() ? "" : fmt::format("<path d='{}' stroke='#bbb' stroke-width='0.5'/>\n", path);
}

std::string draw_panel_legend(const PanelPlot::Panel& panel, double left, double top) {
  std::string out;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    if (panel.curves[i].label.empty()) continue;
    LogLogPlot::Series style;
    style.color = style.marker = static_cast<int>(i);
    const double y = top + 12 + kLegendRow * static_cast<double>(i);
    out += draw_line(Look(style), fmt::format("{},{} {},{}", left, y, left + kLegendSample, y));
    out += fmt::format("<text x='{}' y='{}'>{}</text>\n", left + kLegendSample + 8, y + 4,
                       escaped(panel.curves[i].label));
  }
  return out;
}

double panel_legend_width(const PanelPlot& plot) {
  LogLogPlot labels;
  for (const PanelPlot::Panel& panel : plot.panels)
    for (const PanelPlot::Curve& curve : panel.curves)
      if (!curve.label.empty()) labels.series.push_back({.label = curve.label, .x = {}, .y = {}});
  return labels.series.empty() ? 0 : legend_width(labels);
}

}  // namespace

std::string to_svg(const PanelPlot& plot) {
  const PanelAxes axes(plot);
  const double pitch = kPanelHeight + kPanelGap;
  const auto num_panels = static_cast<double>(plot.panels.size());
  std::string svg =
      begin_svg(kWidth + panel_legend_width(plot), kTop + num_panels * pitch + kBottom);
  Axis y = axes.y;
  for (const PanelPlot::Panel& panel : plot.panels) {
    std::vector<Tick> x_ticks = ticks(axes.x);
    if (&panel != &plot.panels.back())
      for (Tick& tick : x_ticks) tick.label.clear();
    svg += draw_marks(panel.marks, axes.x, y) + draw_grid(axes.x, x_ticks, y, log_ticks(y)) +
           draw_frame(axes.x, y);
    for (std::size_t i = 0; i < panel.curves.size(); ++i)
      svg += draw_panel_curve(panel.curves[i], i, axes.x, y);
    svg += fmt::format("<text x='{}' y='{}'>{}</text>\n", kLeft, y.pixel_high - 7,
                       escaped(panel.title));
    svg += draw_panel_legend(panel, axes.x.pixel_high + kLegendMargin, y.pixel_high);
    y.pixel_low += pitch;
    y.pixel_high += pitch;
  }
  Axis whole = axes.y;
  whole.pixel_low += (num_panels - 1) * pitch;
  return svg + draw_titles(plot, axes.x, whole) + "</svg>\n";
}

std::string to_svg(const LinePlot& plot) {
  std::vector<double> all_x, all_y;
  LogLogPlot labels;
  for (const LinePlot::Curve& curve : plot.curves) {
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) continue;
      all_x.push_back(curve.x[i]);
      all_y.push_back(curve.y[i]);
    }
    labels.series.push_back({.label = curve.label, .x = {}, .y = {}});
  }
  PanelPlot::Panel panel;
  for (const LinePlot::Curve& curve : plot.curves) panel.curves.push_back({curve.label, {}, {}});
  const bool has_legend = std::any_of(plot.curves.begin(), plot.curves.end(),
                                      [](const auto& curve) { return !curve.label.empty(); });
  const Axis x = make_axis(all_x, kLeft, kWidth - kRight);
  const Axis y = make_axis(all_y, kHeight - kBottom, kTop);
  std::string svg = begin_svg(kWidth + (has_legend ? legend_width(labels) : 0), kHeight) +
                    draw_marks(plot.marks, x, y) + draw_grid(x, ticks(x), y, ticks(y)) +
                    draw_frame(x, y);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    svg += draw_linear_curve(plot.curves[i], i, x, y);
  return svg + draw_panel_legend(panel, x.pixel_high + kLegendMargin, y.pixel_high) +
         draw_titles(plot, x, y) + "</svg>\n";
}

std::string to_svg(const Plot& plot) {
  const Axis x = make_axis(plot.x, kLeft, kWidth - kRight);
  const Axis y = make_axis(plot.y, kHeight - kBottom, kTop);
  return begin_svg(kWidth, kHeight) + draw_grid(x, ticks(x), y, ticks(y)) + draw_frame(x, y) +
         draw_curve(plot, x, y) + draw_titles(plot, x, y) + "</svg>\n";
}

std::string to_svg(const LogLogPlot& plot) {
  LogPoints all;
  for (const LogLogPlot::Series& series : plot.series) {
    const LogPoints points = log_points(series);
    all.x.insert(all.x.end(), points.x.begin(), points.x.end());
    all.y.insert(all.y.end(), points.y.begin(), points.y.end());
  }
  const double height =
      std::max(kHeight, kTop + kBottom + kLegendRow * static_cast<double>(plot.series.size()));
  const Axis x = make_log_axis(all.x, kLeft, kWidth - kRight);
  const Axis y = make_log_axis(all.y, height - kBottom, kTop);
  std::string svg = begin_svg(kWidth + legend_width(plot), height) +
                    draw_grid(x, log_ticks(x), y, log_ticks(y)) + draw_frame(x, y);
  for (const LogLogPlot::Series& series : plot.series) svg += draw_series(series, x, y);
  return svg + draw_legend(plot, x.pixel_high + kLegendMargin) + draw_titles(plot, x, y) +
         "</svg>\n";
}

}  // namespace stiction
