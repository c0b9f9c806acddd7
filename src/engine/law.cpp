// Laws compiled from the model: parameters checked, tables turned into polynomial pieces with their exact integrals.
//
// Natural cubic spline through (x_i, y_i) with second derivatives m_i, h_i = x_i+1 - x_i, m_0 = m_n-1 = 0:
//   h_i-1 m_i-1 + 2 (h_i-1 + h_i) m_i + h_i m_i+1 = 6 ((y_i+1 - y_i)/h_i - (y_i - y_i-1)/h_i-1)
#include "engine/law.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace clatter {

namespace {

using Piece = LawTables::Piece;

void check(const TableLaw& law, const Source& source) {
  const std::size_t n = law.e.size();
  if (n < 2) throw InputError(source, "a table needs at least two points, this one has " + std::to_string(n));
  if (law.sigma.size() != n)
    throw InputError(source, "a table needs one stress for each deformation: " + std::to_string(n) + " deformations, " +
                                 std::to_string(law.sigma.size()) + " stresses");
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(law.e[i]) || !std::isfinite(law.sigma[i]))
      throw InputError(source, "point " + std::to_string(i + 1) + " of the table is not a finite number");
    if (i > 0 && !(law.e[i] > law.e[i - 1]))
      throw InputError(source, "the deformations of a table must increase, point " + std::to_string(i + 1) +
                                   " does not lie beyond point " + std::to_string(i));
  }
}

std::vector<double> spline_second_derivatives(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  std::vector<double> m(n, 0), upper(n, 0);
  // Elimination from the left, then back; row i holds m_i + upper_i m_i+1 = m[i].
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
    const double right = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
    const double pivot = 2 * (h0 + h1) - h0 * upper[i - 1];
    upper[i] = h1 / pivot;
    m[i] = (right - h0 * m[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 1;) m[i] -= upper[i] * m[i + 1];
  return m;
}

double value(const Piece& k, double u) { return k.y + u * (k.s + u * (k.p + u * k.r)); }
double integral(const Piece& k, double u) { return u * (k.y + u * (k.s / 2 + u * (k.p / 3 + u * k.r / 4))); }

// Zero of a piece between u = 0 and u = h, the values there having opposite signs.
double zero_of(const Piece& k, double h) {
  double a = 0, b = h;
  const bool rising = value(k, b) > value(k, a);
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (a + b);
    if (middle == a || middle == b) break;
    ((value(k, middle) > 0) == rising ? b : a) = middle;
  }
  return 0.5 * (a + b);
}

void append(const TableLaw& law, LawTables& tables) {
  const std::vector<double>&x = law.e, &y = law.sigma;
  const std::size_t n = x.size(), first = tables.pieces.size();
  const std::vector<double> m = law.smooth ? spline_second_derivatives(x, y) : std::vector<double>(n, 0);
  std::vector<Piece>& pieces = tables.pieces;
  pieces.push_back({x[0], y[0], 0, 0, 0, 0});
  double E = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double h = x[i + 1] - x[i];
    const Piece piece{
        x[i], y[i], (y[i + 1] - y[i]) / h - h * (2 * m[i] + m[i + 1]) / 6, m[i] / 2, (m[i + 1] - m[i]) / (6 * h), E};
    pieces.push_back(piece);
    E += integral(piece, h);
  }
  pieces[first].s = pieces[first + 1].s;
  const Piece& last = pieces.back();
  const double h = x[n - 1] - x[n - 2];
  pieces.push_back({x[n - 1], y[n - 1], last.s + h * (2 * last.p + 3 * h * last.r), 0, 0, E});

  // The energy counts from the lowest unstressed place in the table, or from the first point if it has none.
  double reference = 0, lowest = 0;
  bool found = false;
  const auto candidate = [&](double energy) {
    if (!found || energy < lowest) lowest = energy;
    found = true;
  };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const Piece& k = pieces[first + 1 + i];
    if (y[i] == 0) candidate(k.E0);
    if ((y[i] < 0 && y[i + 1] > 0) || (y[i] > 0 && y[i + 1] < 0))
      candidate(k.E0 + integral(k, zero_of(k, x[i + 1] - x[i])));
  }
  if (y[n - 1] == 0) candidate(E);
  if (found) reference = lowest;
  for (std::size_t i = first; i < pieces.size(); ++i) pieces[i].E0 -= reference;
}

}  // namespace

CompiledLaw compile_law(const Law& law, const Source& source, LawTables& tables) {
  CompiledLaw out;
  if (const auto* linear = std::get_if<LinearLaw>(&law)) {
    if (linear->tension_only && linear->compression_only)
      throw InputError(source, "a spring cannot be tension-only and compression-only at once",
                       "a spring with neither acts both ways");
    out.kind = linear->tension_only       ? LawKind::tension_only
               : linear->compression_only ? LawKind::compression_only
                                          : LawKind::linear;
    out.c = linear->stiffness;
    out.d = linear->damping;
    out.lower = out.upper = linear->rest;
  } else if (const auto* table = std::get_if<TableLaw>(&law)) {
    check(*table, source);
    out.kind = LawKind::table;
    out.d = table->damping;
    out.smooth = table->smooth;
    out.first = static_cast<int>(tables.pieces.size());
    out.knots = static_cast<int>(table->e.size());
    append(*table, tables);
  } else if (const auto* play = std::get_if<PlayLaw>(&law)) {
    if (!play->has_lower && !play->has_upper)
      throw InputError(source, "a law with play needs a flank", "give `lower`, `upper` or both");
    if (play->has_lower && play->has_upper && play->lower > play->upper)
      throw InputError(source, "the free interval of the play is empty: `lower` lies above `upper`");
    out.kind = play->kind == PlayLaw::Kind::elastic  ? LawKind::play_elastic
               : play->kind == PlayLaw::Kind::damped ? LawKind::play_damped
                                                     : LawKind::play_clipped;
    out.c = play->stiffness;
    out.d = play->damping;
    out.lower = play->lower;
    out.upper = play->upper;
    out.has_lower = play->has_lower;
    out.has_upper = play->has_upper;
  } else {
    out.kind = std::holds_alternative<FormulaLaw>(law) ? LawKind::formula : LawKind::actuator;
  }
  return out;
}

}  // namespace clatter
