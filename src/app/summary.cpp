#include "app/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/text.hpp"

namespace clatter::app {

double Ledger::remainder() const {
  double sum = start;
  for (const double w : works) sum += w;
  return end - sum;
}

double Ledger::scale() const {
  double sum = kinetic;
  for (const double w : works) sum += std::abs(w);
  return sum;
}

bool Ledger::closes() const { return std::abs(remainder()) <= kLedgerTolerance * scale(); }

std::string ledger_text(const Ledger& ledger) {
  using enum Table::Align;
  Table table({"energy ledger", "J"}, {left, right});
  table.row({"stored at the start", number(ledger.start, 8)});
  // Contributions that did nothing are not worth a line; the order of the rest is the model's.
  const double small = 1e-14 * ledger.scale();
  for (std::size_t i = 0; i < ledger.works.size(); ++i) {
    if (std::abs(ledger.works[i]) <= small) continue;
    const bool in = ledger.works[i] > 0;
    table.row({fmt::format("{} {}", in ? "supplied by" : "taken by", ledger.names[i]),
               (in ? "+" : "") + number(ledger.works[i], 8)});
  }
  const double remainder = ledger.remainder();
  table.row({"remainder of the integration", (remainder > 0 ? "+" : "") + number(remainder, 2)});
  table.row({"stored at the end", number(ledger.end, 8)});
  std::string text = table.text();
  const double scale = ledger.scale();
  if (scale <= 0) return text + (remainder == 0 ? "  closes: nothing moved\n" : "  does NOT close\n");
  const std::string share = number(std::abs(remainder) / scale, 2);
  if (ledger.closes()) return text + fmt::format("  closes to {} of the energy that moved\n", share);
  return text + fmt::format(
                    "  does NOT close: the remainder is {} of the energy that moved (more than {}); "
                    "try a smaller --step or --tolerance\n",
                    share, number(kLedgerTolerance));
}

std::string summary_text(const Summary& s) {
  std::string text;
  if (!s.title.empty()) text += s.title + "\n";
  text += fmt::format("  {}, {}", counted(s.bodies, "body", "bodies"), counted(s.coordinates, "coordinate"));
  if (s.constraints > 0) text += fmt::format(", {}", counted(s.constraints, "constraint"));
  text += fmt::format(", {}\n", counted(s.degrees_of_freedom, "degree of freedom", "degrees of freedom"));
  text += fmt::format("  {} from {} s to {} s: {}", s.method, number(s.start), number(s.end), counted(s.steps, "step"));
  if (s.rejected > 0) text += fmt::format(" ({} rejected)", whole(s.rejected));
  if (s.events > 0) text += ", " + counted(s.events, "event");
  text += fmt::format(", {} wall time", duration(s.wall));
  if (s.wall > 0) {
    const double rate = static_cast<double>(s.steps) / s.wall;
    text += fmt::format(", {} steps/s", rate < 100 ? number(rate, 3) : whole(static_cast<std::uint64_t>(rate)));
  }
  text += "\n";
  if (s.constrained) {
    text += fmt::format("  constraints hold to {} in position, {} in velocity (relative)\n",
                        number(s.position_residual, 2), number(s.velocity_residual, 2));
  }
  for (const std::string& warning : s.warnings) text += fmt::format("  warning: {}\n", warning);
  text += "\n" + ledger_text(s.ledger);
  if (!s.checks.empty()) text += "\n" + checks_table(s.checks);
  return text;
}

}  // namespace clatter::app
