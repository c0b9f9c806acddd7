// Drawing for figures: a few strokes and texts, in points (1/72 inch) from the upper left corner, to SVG, PDF or PNG.
// In SVG texts stay texts, so that they can be searched and edited.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/output_file.hpp"

namespace clatter::view {

inline constexpr OutputKind kFigure{"a figure of `clatter plot`", "clatter plot"};

struct Point {
  double x = 0, y = 0;
};

struct Stroke {
  std::string color = "#000000";
  double width = 0.5;
  std::vector<double> dashes;
};

enum class Anchor { start, middle, end };

struct TextLook {
  double size = 8;
  Anchor anchor = Anchor::start;
  bool upward = false;  // turned by a quarter, reading from below
  bool bold = false;
  std::string color = "#000000";
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void polyline(std::span<const Point> points, const Stroke& stroke) = 0;
  virtual void text(Point at, const std::string& text, const TextLook& look) = 0;  // at: on the base line
  virtual double text_width(const std::string& text, double size) = 0;
  virtual void clip(Point corner, double width, double height) = 0;  // until unclip
  virtual void unclip() = 0;
  // The bytes of the figure's file, which carry kFigure's mark; the last call.
  virtual std::string finish() = 0;
};

std::unique_ptr<Canvas> svg_canvas(double width, double height, const std::string& title);
std::unique_ptr<Canvas> pdf_canvas(double width, double height, const std::string& title);
std::unique_ptr<Canvas> png_canvas(double width, double height, double dots_per_inch);

}  // namespace clatter::view
