// `clatter reduce`: the flexible bodies of a model, and how well their shapes stand for them.
//
// Effective mass: the share of the body's mass (moment of inertia about its mass centre) that a shape moves along
// (about) an axis when the body is shaken there, (r^T M phi)^2/(r^T M r); shapes that hold the whole static answer add
// up to what is not rigidly attached. In mean axes shapes move no mass as a whole: then, and for superelements, the
// columns are left out. Static error: the share of the strain energy of a unit load at an interface, balanced by the
// body's inertia, that the shapes miss.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <ostream>

#include "app/body_making.hpp"
#include "app/commands.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "fem/make.hpp"
#include "fem/sid.hpp"
#include "study/changes.hpp"
#include "study/input_files.hpp"

namespace clatter::app {
namespace {

const char* word(ReductionDescription::Method m) {
  using enum ReductionDescription::Method;
  switch (m) {
    case modal:
      return "modal";
    case craig_bampton:
      return "craig-bampton";
    case frequency_response:
      return "frequency-response";
    case given:
      return "given";
    case all:
      return "all";
  }
  return "";
}

// Below what double precision tells, a share is none.
std::string percent(double share) { return share < 1e-10 ? "0" : number(100 * share, 3); }

void print_modes(const fem::FlexibleModel& m, std::ostream& out) {
  const fem::ReductionReport& r = m.report;
  const ReducedBody& b = *m.body;
  const bool planar = b.planar;
  const std::vector<std::string> axes =
      planar ? std::vector<std::string>{"x", "y", "rz"} : std::vector<std::string>{"x", "y", "z", "rx", "ry", "rz"};
  Vec whole(static_cast<long>(axes.size()));
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k].back() == 'x' ? 0 : axes[k].back() == 'y' ? 1 : 2;
    whole[static_cast<long>(k)] = axes[k].size() == 1 ? b.mass : b.J0(axis, axis);
  }
  const bool masses = r.effective_mass.rows() == static_cast<long>(r.frequencies.size()) &&
                      (r.effective_mass.colwise().sum().transpose().array() > 1e-9 * whole.array()).any();
  using enum Table::Align;
  std::vector<std::string> heading{"mode", "frequency/Hz"};
  if (masses)
    for (const std::string& a : axes) heading.push_back(a + "/%");
  Table table(heading, std::vector<Table::Align>(heading.size(), right));
  for (std::size_t i = 0; i < r.frequencies.size(); ++i) {
    std::vector<std::string> row{std::to_string(i + 1), number(r.frequencies[i], 6)};
    if (masses)
      for (long k = 0; k < whole.size(); ++k)
        row.push_back(percent(r.effective_mass(static_cast<long>(i), k) / whole[k]));
    table.row(row);
  }
  if (masses) {
    std::vector<std::string> row{"all", ""};
    for (long k = 0; k < whole.size(); ++k) row.push_back(percent(r.effective_mass.col(k).sum() / whole[k]));
    table.row(row);
  }
  fmt::print(out, "\n  {}\n{}",
             !b.boundary.empty() ? "modes with the boundary held"
             : masses            ? "frequencies, and the effective mass of each mode"
                                 : "frequencies",
             table.text());
}

void print_static_errors(const fem::ReductionReport& r, const std::string& held, std::ostream& out) {
  if (r.static_errors.empty()) return;
  std::vector<std::string> components, places;
  std::map<std::pair<std::string, std::string>, double> errors;
  double worst = 0;
  for (const fem::LoadError& e : r.static_errors) {
    const std::size_t dot = e.load.rfind('.');
    const std::string place = e.load.substr(0, dot), component = e.load.substr(dot + 1);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    if (std::find(components.begin(), components.end(), component) == components.end()) components.push_back(component);
    errors[{place, component}] = e.error;
    worst = std::max(worst, e.error);
  }
  std::vector<std::string> heading{"interface"};
  for (const std::string& c : components) heading.push_back(c + "/%");
  std::vector<Table::Align> align(heading.size(), Table::Align::right);
  align[0] = Table::Align::left;
  Table table(heading, align);
  constexpr std::size_t kShown = 40;
  for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    std::vector<std::string> row{places[i]};
    for (const std::string& c : components) {
      const auto it = errors.find({places[i], c});
      row.push_back(it == errors.end() ? "" : percent(it->second));
    }
    table.row(row);
  }
  fmt::print(out, "\n  static error: strain energy of a unit load, {}, that the shapes miss (worst {} %)\n{}", held,
             percent(worst), table.text());
  if (places.size() > kShown) fmt::print(out, "  and {} more\n", places.size() - kShown);
}

void print_body(const study::MadeBody& made, std::ostream& out) {
  const fem::FlexibleModel& m = *made.model;
  const ReducedBody& b = *m.body;
  fmt::print(out, "{}\n", made_text(made));
  if (!made.like.empty()) return;
  using F = FlexibleSource::Formulation;
  const char* formulation = made.source.formulation == F::superelement      ? "superelement"
                            : made.source.formulation == F::finite_elements ? "finite-elements"
                                                                            : "floating-frame";
  fmt::print(out, "  {} nodes, {} elements, method {}, {}{}\n", whole(static_cast<std::uint64_t>(m.report.nodes)),
             whole(static_cast<std::uint64_t>(m.report.elements)), word(made.source.reduction.method), formulation,
             made.source.stiffening ? ", stiffening" : "");
  const auto clean = [&](double x) {
    return number(std::abs(x) < 1e-12 * std::sqrt(b.J0.trace() / b.mass) ? 0 : x, 4);
  };
  fmt::print(out, "  mass {} kg, mass centre ({}, {}, {}) m, inertia ({}, {}, {}) kg m^2\n", number(b.mass),
             clean(b.origin.x()), clean(b.origin.y()), clean(b.origin.z()), number(b.J0(0, 0), 5),
             number(b.J0(1, 1), 5), number(b.J0(2, 2), 5));
  if (m.report.rigid_energy > 0 || m.report.rigid_mass_error > 0)
    fmt::print(out, "  rigid motions: energy of the stiffness matrix {}, error of the reduced mass {} (relative)\n",
               number(m.report.rigid_energy, 2), number(m.report.rigid_mass_error, 2));
  if (!m.report.frequencies.empty()) print_modes(m, out);
  using R = ReferenceDescription::Kind;
  const bool frame = made.source.formulation != F::superelement;
  print_static_errors(
      m.report,
      frame && made.source.reference.kind == R::interface ? fmt::format("held at `{}`", made.source.reference.interface)
      : frame && made.source.reference.kind == R::nodes   ? "held at the reference nodes"
      : frame && made.source.reference.kind == R::principal_axes ? "held by the principal axes"
                                                                 : "balanced by inertia",
      out);
}

}  // namespace

int reduce(const ReduceOptions& options, const Console& console) {
  std::vector<study::MadeBody> bodies;
  study::BodyMaking making = making_shown(options.quiet);
  making.made = [&](const study::MadeBody& m) { bodies.push_back(m); };
  const Model model = study::load_changed(options.model, options.changes, making);
  if (bodies.empty()) throw InputError(fmt::format("{} has no flexible bodies", options.model));
  std::vector<std::string> names;
  bool found = options.body.empty();
  for (const study::MadeBody& b : bodies) {
    names.push_back(b.body);
    found = found || b.body == options.body;
  }
  if (!found)
    throw InputError(fmt::format("{} has no flexible body `{}`", options.model, options.body),
                     did_you_mean(options.body, names));
  const OutputRules rules{study::files_of(model), options.force};
  const auto sid_path = [&](const study::MadeBody& b) {
    return (std::filesystem::path(options.sid) / (b.body + ".sid")).string();
  };
  if (!options.sid.empty()) {  // refused before anything is written
    std::error_code error;
    if (std::filesystem::create_directories(options.sid, error); error)
      throw InputError(fmt::format("the folder {} cannot be made ({})", options.sid, error.message()));
    for (const study::MadeBody& b : bodies)
      if (options.body.empty() || b.body == options.body) refuse_output(sid_path(b), fem::kSidFile, rules);
  }
  bool first = true;
  for (const study::MadeBody& b : bodies) {
    if (!options.body.empty() && b.body != options.body) continue;
    if (!first) fmt::print(console.out, "\n");
    first = false;
    print_body(b, console.out);
    if (options.sid.empty()) continue;
    write_file(sid_path(b), fem::write_sid(*b.model->body, b.body), fem::kSidFile, rules);
    fmt::print(console.out, "\n  written: {}\n", sid_path(b));
  }
  return kDone;
}

}  // namespace clatter::app
