#include "app/summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/text.hpp"

namespace clatter::app {

std::string ledger_text(const study::Ledger& ledger) {
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
  if (remainder == 0 && scale <= 0) return text + "  closes: nothing moved\n";
  if (std::abs(remainder) <= ledger.rounding())
    return text + fmt::format("  closes to the rounding of what is stored ({} of it)\n",
                              number(std::abs(remainder) / ledger.summands, 2));
  if (scale <= 0) return text + "  does NOT close\n";
  const std::string share = number(std::abs(remainder) / scale, 2);
  if (ledger.closes()) return text + fmt::format("  closes to {} of the energy that moved\n", share);
  return text + fmt::format(
                    "  does NOT close: the remainder is {} of the energy that moved (more than {}); "
                    "try a smaller --step or --tolerance\n",
                    share, number(study::kLedgerTolerance));
}

std::string contact_text(const study::ContactSummary& c) {
  if (c.contacts == 0) return "";
  std::string text = "  " + counted(c.contacts, "contact");
  if (c.crowd)
    text += fmt::format(", {} that carry at the end", counted(c.points, "point"));
  else if (c.points != c.contacts)
    text += fmt::format(" with {}", counted(c.points, "point"));
  std::vector<std::string> kinds;
  const auto kind = [&](long n, const char* one, const char* several) {
    if (n > 0) kinds.push_back(counted(static_cast<std::uint64_t>(n), one, several));
  };
  kind(c.counts.impacts, "impact", "impacts");
  kind(c.counts.closes, "closing", "closings");
  kind(c.counts.opens, "opening", "openings");
  kind(c.counts.sticks, "begin of sticking", "begins of sticking");
  kind(c.counts.slides, "begin of sliding", "begins of sliding");
  text += ": " + (kinds.empty() ? std::string("nothing happened") : listed(kinds)) + "\n";

  const contact::Certificate& w = c.worst;
  const auto at = [](double t) { return fmt::format(" at {} s", number(t)); };
  const std::string depth = w.penetration > 0
                                ? fmt::format("{} m ({} of the model's length){}", number(w.penetration, 2),
                                              number(w.penetration / c.length_scale, 2), at(w.t_penetration))
                                : "none";
  const std::string way = w.on_way > w.penetration
                              ? fmt::format(" (between the ends of steps {} m{})", number(w.on_way, 2), at(w.t_on_way))
                              : std::string();
  if (!c.rigid) return text + fmt::format("  deepest penetration: {}{}\n", depth, way);
  const auto worst = [&](double x, double t, const char* unit) {
    return x > 0 ? number(x, 2) + unit + at(t) : std::string("0");
  };
  if (c.crowd)
    return text + fmt::format(
                      "  contact laws at worst: rates off by {} m/s, impulses by {} N s, outside the friction cones {} "
                      "N s, penetration {}, energy of a step {}\n",
                      number(c.residual.rate, 2), number(c.residual.impulse, 2), number(c.residual.cone, 2), depth,
                      worst(w.energy, w.t_energy, " J"));
  return text + fmt::format(
                    "  contact laws at worst: complementarity {}, outside the friction cones {}, penetration {}{}, "
                    "energy of a step {}\n",
                    worst(w.complementarity, w.t_complementarity, ""), worst(w.cone, w.t_cone, ""), depth, way,
                    worst(w.energy, w.t_energy, " J"));
}

std::string summary_text(const study::Summary& s) {
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
  text += contact_text(s.contact);
  if (const std::string unsolved = study::unsolved_text(s.contact); !unsolved.empty())
    text += fmt::format("  warning: {}\n", unsolved);
  if (const std::string passed = study::passages_text(s.contact); !passed.empty())
    text += fmt::format("  warning: {}\n", passed);
  for (const std::string& note : s.notes) text += fmt::format("  note: {}\n", note);
  for (const std::string& warning : s.warnings) text += fmt::format("  warning: {}\n", warning);
  text += "\n" + ledger_text(s.ledger);
  if (!s.checks.empty()) text += "\n" + checks_table(s.checks);
  return text;
}

std::string checks_table(const std::vector<study::CheckResult>& results, int indent) {
  using enum Table::Align;
  Table table({"quantity", "published", "computed", "difference", "tolerance", "", "source"},
              {left, right, right, right, right, left, left});
  for (const study::CheckResult& r : results) {
    const std::string source = r.known ? r.check.from : r.reason;
    table.row({study::describe(r.check), number(r.check.value, 10), r.known ? number(r.computed, 10) : "unknown",
               r.known ? number(r.difference(), 2) : "", number(r.check.tolerance, 2), r.ok() ? "ok" : "FAIL", source});
  }
  return table.text(indent);
}

}  // namespace clatter::app
