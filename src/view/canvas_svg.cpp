// Widths of texts are those of Helvetica, which the common sans serif faces of browsers and printers share or come
// near to.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "view/canvas.hpp"

namespace clatter::view {
namespace {

// Advance widths of the characters 32 to 126, thousandths of the size.
constexpr std::uint16_t kHelvetica[] = {278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
                                        556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                                        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                                        667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                                        333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                                        556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height, const std::string& title) {
    constexpr double kMillimetresPerPoint = 25.4 / 72;
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.4g}mm\" height=\"{:.4g}mm\" viewBox=\"0 0 {:.6g} "
        "{:.6g}\" "
        "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\" role=\"img\">\n",
        width * kMillimetresPerPoint, height * kMillimetresPerPoint, width, height);
    put("<!-- {} -->\n", kFigure.mark);
    put("<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", escaped(title));
  }

  void polyline(std::span<const Point> points, const Stroke& stroke) override {
    if (points.size() < 2) return;
    put("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\" stroke-linejoin=\"round\"", stroke.color,
        stroke.width);
    if (!stroke.dashes.empty()) put(" stroke-dasharray=\"{:.3g}\"", fmt::join(stroke.dashes, " "));
    put(" points=\"");
    for (const Point& p : points) put("{:.2f},{:.2f} ", p.x, p.y);
    out_.back() = '"';
    put("/>\n");
  }

  void text(Point at, const std::string& text, const TextLook& look) override {
    static constexpr const char* kAnchors[] = {"start", "middle", "end"};
    put("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:.3g}\" text-anchor=\"{}\" fill=\"{}\"", at.x, at.y, look.size,
        kAnchors[static_cast<int>(look.anchor)], look.color);
    if (look.bold) put(" font-weight=\"bold\"");
    if (look.upward) put(" transform=\"rotate(-90 {:.2f} {:.2f})\"", at.x, at.y);
    put(">{}</text>\n", escaped(text));
  }

  double text_width(const std::string& text, double size) override {
    double width = 0;
    for (const char c : text) {
      const auto code = static_cast<unsigned char>(c);
      if (code >= 0x80 && code < 0xC0) continue;  // inside a character
      width += code >= 32 && code < 127 ? kHelvetica[code - 32] : 500;
    }
    return width * size / 1000;
  }

  void clip(Point corner, double width, double height) override {
    put("<clipPath id=\"c{0}\"><rect x=\"{1:.2f}\" y=\"{2:.2f}\" width=\"{3:.2f}\" height=\"{4:.2f}\"/></clipPath>\n"
        "<g clip-path=\"url(#c{0})\">\n",
        clips_++, corner.x, corner.y, width, height);
  }
  void unclip() override { put("</g>\n"); }

  std::string finish() override {
    put("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> text, T&&... values) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<T>(values)...);
  }
  std::string out_;
  int clips_ = 0;
};

}  // namespace

std::unique_ptr<Canvas> svg_canvas(double width, double height, const std::string& title) {
  return std::make_unique<SvgCanvas>(width, height, title);
}

}  // namespace clatter::view
