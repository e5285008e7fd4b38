// Curves as SVG pictures: axes with round ticks, labels, no dependence on anything.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stiction {

/// One curve over linear axes.
struct Plot {
  std::string title;
  std::string x_label, y_label;
  std::span<const double> x, y;  // same size
};

/// The picture as text. Points closer than a third of a pixel to the one before are left out.
std::string to_svg(const Plot& plot);

/// Several curves over linear axes, a legend beside them, and grey lines where something happened.
struct LinePlot {
  struct Curve {
    std::string label;         // empty: not in the legend
    std::vector<double> x, y;  // same size; pairs that are not finite are left out
  };
  std::string title;
  std::string x_label, y_label;
  std::vector<Curve> curves;  // colours and dashes in this order
  std::vector<double> marks;  // on the x axis
};

std::string to_svg(const LinePlot& plot);

/// Several curves with markers over logarithmic axes, and a legend beside them.
struct LogLogPlot {
  struct Series {
    std::string label;
    std::vector<double> x, y;  // same size; pairs that are not finite and > 0 are left out
    int color = 0;             // curves that belong together share colour or marker; both repeat
    int marker = 0;            // and with it the dashes
  };
  std::string title;
  std::string x_label, y_label;
  std::vector<Series> series;
};

std::string to_svg(const LogLogPlot& plot);

/// Panels one below the other with curves over a linear x and a logarithmic y axis, which all
/// panels share, and grey lines where something happened.
struct PanelPlot {
  struct Curve {
    std::string label;         // empty: not in the legend
    std::vector<double> x, y;  // same size; y that are not finite and > 0 are left out
  };
  struct Panel {
    std::string title;
    std::vector<Curve> curves;  // colours in this order
    std::vector<double> marks;  // on the x axis
  };
  std::string title;
  std::string x_label, y_label;
  std::vector<Panel> panels;
};

std::string to_svg(const PanelPlot& plot);

}  // namespace stiction
