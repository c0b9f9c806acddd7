#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "view/canvas.hpp"

namespace clatter::view {
namespace {

constexpr double kPointsPerInch = 72;

// A text chunk (PNG, section 11.3.3) behind the header, which is 33 bytes long: what wrote the picture.
std::string with_software(std::string png, std::string_view name) {
  constexpr std::size_t kHeader = 33;
  std::string chunk = "tEXtSoftware";
  chunk += '\0';
  chunk += name;
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xFFU);
    return bytes;
  };
  const std::uint32_t length = static_cast<std::uint32_t>(chunk.size()) - 4,
                      sum = static_cast<std::uint32_t>(
                          ::crc32_z(0, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size()));
  if (png.size() >= kHeader) png.insert(kHeader, number(length) + chunk + number(sum));
  return png;
}

// Both surfaces are drawn in memory.
class CairoCanvas final : public Canvas {
 public:
  CairoCanvas(double width, double height, const std::string& title) {
    surface_ = cairo_pdf_surface_create_for_stream(&take, &bytes_, width, height);
    cairo_pdf_surface_set_metadata(surface_, CAIRO_PDF_METADATA_TITLE, title.c_str());
    cairo_pdf_surface_set_metadata(surface_, CAIRO_PDF_METADATA_CREATOR, "clatter " CLATTER_VERSION);
    begin();
  }
  CairoCanvas(double width, double height, double dots_per_inch) : png_(true) {
    const double scale = dots_per_inch / kPointsPerInch;
    surface_ = cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
                                          static_cast<int>(std::lround(height * scale)));
    begin();
    cairo_scale(g_, scale, scale);
    cairo_set_source_rgb(g_, 1, 1, 1);
    cairo_paint(g_);
  }
  CairoCanvas(const CairoCanvas&) = delete;
  CairoCanvas& operator=(const CairoCanvas&) = delete;
  ~CairoCanvas() override {
    cairo_destroy(g_);
    cairo_surface_destroy(surface_);
  }

  void polyline(std::span<const Point> points, const Stroke& stroke) override {
    if (points.size() < 2) return;
    set_color(stroke.color);
    cairo_set_line_width(g_, stroke.width);
    cairo_set_dash(g_, stroke.dashes.data(), static_cast<int>(stroke.dashes.size()), 0);
    cairo_move_to(g_, points[0].x, points[0].y);
    for (const Point& p : points.subspan(1)) cairo_line_to(g_, p.x, p.y);
    cairo_stroke(g_);
  }

  void text(Point at, const std::string& text, const TextLook& look) override {
    set_font(look.size, look.bold);
    set_color(look.color);
    cairo_save(g_);
    cairo_translate(g_, at.x, at.y);
    if (look.upward) cairo_rotate(g_, -std::numbers::pi / 2);
    const double width = advance(text);
    cairo_move_to(g_, look.anchor == Anchor::start ? 0 : look.anchor == Anchor::middle ? -width / 2 : -width, 0);
    cairo_show_text(g_, text.c_str());
    cairo_restore(g_);
  }

  double text_width(const std::string& text, double size) override {
    set_font(size, false);
    return advance(text);
  }

  void clip(Point corner, double width, double height) override {
    cairo_save(g_);
    cairo_rectangle(g_, corner.x, corner.y, width, height);
    cairo_clip(g_);
  }
  void unclip() override { cairo_restore(g_); }

  std::string finish() override {
    if (png_) {
      cairo_surface_write_to_png_stream(surface_, &take, &bytes_);
    } else {
      cairo_show_page(g_);
      cairo_surface_finish(surface_);
    }
    if (bytes_.empty())
      throw OutputError(
          fmt::format("the figure cannot be made ({})", cairo_status_to_string(cairo_surface_status(surface_))));
    if (png_) return with_software(std::move(bytes_), kFigure.mark);
    return std::move(bytes_) + fmt::format("%{}\n", kFigure.mark);  // a comment behind the end of the document
  }

 private:
  static cairo_status_t take(void* bytes, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  }
  void begin() {
    g_ = cairo_create(surface_);
    cairo_set_line_join(g_, CAIRO_LINE_JOIN_ROUND);
  }
  void set_color(const std::string& color) {
    const auto part = [&](std::size_t at) {
      return static_cast<double>(std::strtol(color.substr(at, 2).c_str(), nullptr, 16)) / 255;
    };
    cairo_set_source_rgb(g_, part(1), part(3), part(5));
  }
  void set_font(double size, bool bold) {
    cairo_select_font_face(g_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(g_, size);
  }
  double advance(const std::string& text) {
    cairo_text_extents_t extents{};
    cairo_text_extents(g_, text.c_str(), &extents);
    return extents.x_advance;
  }

  bool png_ = false;
  std::string bytes_;
  cairo_surface_t* surface_ = nullptr;
  cairo_t* g_ = nullptr;
};

}  // namespace

std::unique_ptr<Canvas> pdf_canvas(double width, double height, const std::string& title) {
  return std::make_unique<CairoCanvas>(width, height, title);
}
std::unique_ptr<Canvas> png_canvas(double width, double height, double dots_per_inch) {
  return std::make_unique<CairoCanvas>(width, height, dots_per_inch);
}

}  // namespace clatter::view
