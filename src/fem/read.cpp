// MatrixMarket (Boisvert, Pozo and Remington, The Matrix Market exchange formats, 1996) and plain tables of numbers.
#include "fem/read.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/read_file.hpp"

namespace clatter::fem {
namespace {

// Numbers line by line; `%` and `#` begin comments, commas count as spaces.
class Lines {
 public:
  Lines(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {}

  bool next(std::vector<double>& numbers) {
    while (place_ < text_.size()) {
      const std::size_t stop = std::min(text_.find('\n', place_), text_.size());
      const std::string_view line(text_.data() + place_, stop - place_);
      place_ = stop + 1;
      ++line_;
      numbers.clear();
      std::size_t i = 0;
      while (i < line.size()) {
        if (std::isspace(static_cast<unsigned char>(line[i])) != 0 || line[i] == ',') {
          ++i;
          continue;
        }
        if (line[i] == '%' || line[i] == '#') break;
        if (line[i] == '+') ++i;
        double v = 0;
        const auto [p, ec] = std::from_chars(line.data() + i, line.data() + line.size(), v);
        if (ec != std::errc() || !std::isfinite(v)) fail("expected a number", static_cast<int>(i) + 1);
        numbers.push_back(v);
        i = static_cast<std::size_t>(p - line.data());
      }
      if (!numbers.empty()) return true;
    }
    return false;
  }
  [[noreturn]] void fail(const std::string& message, int column = 1) const {
    throw InputError(Source{file_, line_, column}, message);
  }
  int line() const { return line_; }

 private:
  const std::string& text_;
  std::string file_;
  std::size_t place_ = 0;
  int line_ = 0;
};

struct Banner {
  bool there = false, array = false, symmetric = false;
};

Banner banner(const std::string& text, const std::string& file) {
  Banner b;
  if (!text.starts_with("%%MatrixMarket")) return b;
  std::istringstream words(text.substr(0, text.find('\n')));
  std::string mark, object, format, field, symmetry;
  words >> mark >> object >> format >> field >> symmetry;
  const auto fail = [&](const std::string& what) { throw InputError(Source{file, 1, 1}, what); };
  if (object != "matrix") fail("only MatrixMarket objects `matrix` are read");
  if (format != "coordinate" && format != "array") fail("expected `coordinate` or `array`");
  if (field != "real" && field != "integer") fail("only real matrices are read, this one is `" + field + "`");
  if (symmetry != "general" && symmetry != "symmetric") fail("only general and symmetric matrices are read");
  b = {true, format == "array", symmetry == "symmetric"};
  return b;
}

constexpr int kMostDense = 500'000'000;  // entries: 4 GB

// A number of rows or columns.
int whole(const Lines& lines, double x, int most) {
  if (!(x >= 1 && x <= most)) lines.fail("the size of the matrix is out of range");
  return static_cast<int>(x);
}

}  // namespace

std::string read_text(const std::string& path) {
  std::optional<std::string> text = read_regular_file(path, kMostBytesOfData);
  if (!text) throw InputError(Source{path, 0, 0}, "the file cannot be read");
  return std::move(*text);
}

Mesh read_mesh(const std::string& path, double unit) {
  const auto ends = [&](const char* with) {
    const std::string e = with;
    return path.size() >= e.size() && path.compare(path.size() - e.size(), e.size(), e) == 0;
  };
  if (ends(".msh")) return read_gmsh(read_text(path), path, unit);
  if (ends(".inp")) return read_abaqus(read_text(path), path, unit);
  throw InputError(Source{path, 0, 0}, "meshes are read from .msh (Gmsh 4.1) and .inp (Abaqus, CalculiX)");
}

Eigen::SparseMatrix<double> read_matrix_market(const std::string& text, const std::string& file) {
  const Banner b = banner(text, file);
  if (!b.there || b.array)
    throw InputError(Source{file, 1, 1}, "expected a MatrixMarket file with format `coordinate`");
  Lines lines(text, file);
  std::vector<double> v;
  if (!lines.next(v) || v.size() != 3) lines.fail("expected the numbers of rows, columns and entries");
  const int rows = whole(lines, v[0], 10'000'000), cols = whole(lines, v[1], 10'000'000);
  if (!(v[2] >= 0 && v[2] <= 1e18)) lines.fail("the number of entries is out of range");
  if (b.symmetric && rows != cols) lines.fail("a symmetric matrix must be square");
  const auto entries = static_cast<long>(v[2]);
  std::vector<Eigen::Triplet<double>> t;
  for (long k = 0; k < entries; ++k) {
    if (!lines.next(v)) lines.fail(fmt::format("the file ends after {} of {} entries", k, entries));
    if (v.size() != 3) lines.fail("expected row, column and value");
    if (!(v[0] >= 1 && v[0] <= rows && v[1] >= 1 && v[1] <= cols)) lines.fail("row or column out of range");
    const int i = static_cast<int>(v[0]) - 1, j = static_cast<int>(v[1]) - 1;
    t.emplace_back(i, j, v[2]);
    if (b.symmetric && i != j) t.emplace_back(j, i, v[2]);
  }
  Eigen::SparseMatrix<double> m(rows, cols);
  m.setFromTriplets(t.begin(), t.end());
  return m;
}

Mat read_table(const std::string& text, const std::string& file) {
  const Banner b = banner(text, file);
  if (b.there && !b.array) {
    const Eigen::SparseMatrix<double> sparse = read_matrix_market(text, file);
    if (static_cast<double>(sparse.rows()) * static_cast<double>(sparse.cols()) > kMostDense)
      throw InputError(Source{file, 2, 1}, "the matrix is too large for a table");
    return Mat(sparse);
  }
  Lines lines(text, file);
  std::vector<double> v;
  if (b.there) {
    if (!lines.next(v) || v.size() != 2) lines.fail("expected the numbers of rows and columns");
    const long rows = whole(lines, v[0], kMostDense), cols = whole(lines, v[1], kMostDense);
    // Every value takes a digit and a line end at least: what the text cannot hold is not laid out.
    const double values = static_cast<double>(rows) * static_cast<double>(cols);
    if (values > kMostDense || (b.symmetric ? values / 2 : values) > static_cast<double>(text.size()))
      lines.fail("the size of the matrix is out of range");
    if (b.symmetric && rows != cols) lines.fail("a symmetric matrix must be square");
    Mat m(rows, cols);
    for (long j = 0; j < cols; ++j)
      for (long i = b.symmetric ? j : 0; i < rows; ++i) {
        if (!lines.next(v) || v.size() != 1) lines.fail("expected one value a line");
        m(i, j) = v[0];
        if (b.symmetric) m(j, i) = v[0];
      }
    return m;
  }
  std::vector<std::vector<double>> rows;
  while (lines.next(v)) {
    if (!rows.empty() && rows.front().size() != v.size())
      lines.fail(fmt::format("this line has {} numbers, the first has {}", v.size(), rows.front().size()));
    rows.push_back(v);
  }
  if (rows.empty()) throw InputError(Source{file, 1, 1}, "the file holds no numbers");
  Mat m(static_cast<long>(rows.size()), static_cast<long>(rows.front().size()));
  for (long i = 0; i < m.rows(); ++i)
    for (long j = 0; j < m.cols(); ++j) m(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return m;
}

MatrixModel read_matrices(const std::string& stiffness, const std::string& mass, const std::string& nodes,
                          double unit) {
  MatrixModel m;
  const Mat table = read_table(read_text(nodes), nodes);
  if (table.cols() != 3 && table.cols() != 4)
    throw InputError(Source{nodes, 1, 1}, "expected three coordinates a line (or a number and three coordinates)");
  for (long i = 0; i < table.rows(); ++i) m.nodes.emplace_back(unit * table.row(i).tail(3).transpose());
  m.K = read_matrix_market(read_text(stiffness), stiffness);
  m.M = read_matrix_market(read_text(mass), mass);
  const long n = m.K.rows(), count = table.rows();
  if (m.K.cols() != n) throw InputError(Source{stiffness, 0, 0}, "the stiffness matrix is not square");
  if (m.M.rows() != n || m.M.cols() != n)
    throw InputError(Source{mass, 0, 0}, fmt::format("the mass matrix is {} x {}, the stiffness matrix {} x {}",
                                                     m.M.rows(), m.M.cols(), n, n));
  if (n != 3 * count && n != 6 * count)
    throw InputError(
        Source{nodes, 0, 0},
        fmt::format("{} nodes do not fit matrices of {} rows: 3 or 6 freedoms a node are expected", count, n));
  m.per_node = static_cast<int>(n / count);
  const auto symmetric = [](const Eigen::SparseMatrix<double>& A, const std::string& file, const char* what) {
    const Eigen::SparseMatrix<double> d = A - Eigen::SparseMatrix<double>(A.transpose());
    if (d.norm() > 1e-8 * A.norm())
      throw InputError(Source{file, 0, 0}, fmt::format("the {} matrix is not symmetric", what));
  };
  symmetric(m.K, stiffness, "stiffness");
  symmetric(m.M, mass, "mass");
  return m;
}

}  // namespace clatter::fem
