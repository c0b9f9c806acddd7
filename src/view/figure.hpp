// A figure for a paper: quantities over time (or over another quantity), those with the same unit in one panel, panels
// one below the other on a common axis.
#pragma once

#include <string>
#include <vector>

#include "view/canvas.hpp"

namespace clatter::view {

struct Curve {
  std::string name;
  std::string unit;
  std::vector<double> x, y;
};

struct Figure {
  std::string title;                 // above; may be empty
  std::string x_label, x_unit;       // "t", "s"
  double x_from = 0, x_to = 1;       // range of the common axis
  std::vector<Curve> curves;         // panels by unit, in the order they appear
  std::vector<double> marks;         // events: vertical lines
  double width = 453, height = 283;  // points
};

void draw(const Figure& figure, Canvas& canvas);

// Round numbers about `wanted` apart or a little less, covering [low, high] from inside; and the power of ten to divide
// the labels by, so that they stay short.
struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
  int exponent = 0;
};
Ticks ticks(double low, double high, double wanted_step);

// "m/s^2" with the signs of print: m/s².
std::string printed_unit(const std::string& unit);

}  // namespace clatter::view
