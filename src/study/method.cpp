#include "study/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "model/method_words.hpp"

namespace clatter::study {

const Source kMethodOption{"--method", 0, 0};

namespace {

constexpr int kSamples = 1000;     // of a run whose model does not say
constexpr int kCheckpoints = 100;  // likewise
constexpr double kOnGrid = 1e-9;   // a time this close to a sample, in sample intervals, is on it

bool has_fixed_step(Method method) {
  return method != Method::dopri5 && method != Method::radau5 && method != Method::bdf && method != Method::adams;
}

Scheme scheme_of(const Simulate& simulate) {
  const bool family = simulate.method == Method::event_driven || simulate.method == Method::smooth;
  switch (family ? simulate.scheme : simulate.method) {
    case Method::rk4:
      return Scheme::rk4;
    case Method::dopri5:
      return Scheme::dopri5;
    case Method::radau5:
      return Scheme::radau5;
    case Method::generalized_alpha:
    case Method::newmark:
    case Method::hht:
      return Scheme::generalized_alpha;
    case Method::euler:
      return Scheme::euler;
    case Method::symplectic_euler:
      return Scheme::symplectic_euler;
    case Method::verlet:
      return Scheme::verlet;
    case Method::bdf:
      return Scheme::bdf;
    case Method::adams:
      return Scheme::adams;
    case Method::event_driven:
    case Method::time_stepping:
    case Method::smooth:
      break;
  }
  return Scheme::dopri5;
}

std::optional<AlphaWeights> weights_of(const Simulate& simulate) {
  const bool family = simulate.method == Method::event_driven || simulate.method == Method::smooth;
  switch (family ? simulate.scheme : simulate.method) {
    case Method::newmark:
      return AlphaWeights::newmark(simulate.beta, simulate.gamma);
    case Method::hht:
      return AlphaWeights::hilber_hughes_taylor(simulate.hht_alpha);
    default:
      return std::nullopt;
  }
}

bool multiple(double x, double step) {
  const double n = std::round(x / step);
  return std::abs(x - n * step) <= kOnGrid * step;
}

bool all_multiples(const Model& model, double step) {
  const Simulate& s = model.simulate;
  if (!multiple(s.end - s.start, step)) return false;
  return std::all_of(model.checks.begin(), model.checks.end(), [&](const Check& c) {
    return c.reduction != Check::Reduction::at_time || c.time > s.end || multiple(c.time - s.start, step);
  });
}

}  // namespace

std::string method_name(Method method) {
  for (const auto& [word, m] : method_words()) {
    if (m == method) return word;
  }
  return "?";
}

std::string method_text(const Simulate& s) {
  const std::string name = method_name(s.method);
  if (s.method == Method::time_stepping)
    return name + (s.time_stepping == TimeStepping::moreau ? "/moreau" : "/generalized-alpha");
  return treats_contact(s.method) ? name + "/" + method_name(s.scheme) : name;
}

bool has_fixed_step(const Simulate& s) { return has_fixed_step(stepping(s)); }

// The method that takes the steps: of event-driven and smooth their scheme.
Method stepping(const Simulate& s) {
  return s.method == Method::event_driven || s.method == Method::smooth ? s.scheme : s.method;
}
bool treats_contact(Method m) { return m == Method::event_driven || m == Method::time_stepping || m == Method::smooth; }

Method method_named(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> known;
  for (const auto& [word, method] : method_words()) {
    if (word == name) return method;
    known.push_back(word);
  }
  std::string hint = did_you_mean(name, known);
  if (hint.empty())
    hint =
        "known are rk4, dopri5, radau5, generalized-alpha, newmark, hht, euler, symplectic-euler, verlet, bdf, adams, "
        "event-driven, "
        "time-stepping and smooth";
  throw InputError(fmt::format("--method: there is no integrator `{}`", name), hint);
}

// FAMILY, or FAMILY/SCHEME: "time-stepping/generalized-alpha", "event-driven/radau5".
void choose_method(const std::string& text, Simulate& s) {
  const std::size_t slash = text.find('/');
  const Method before = s.method;
  s.method = method_named(text.substr(0, slash));
  // A family goes on with the scheme that the model names for one, if it does.
  if (!treats_contact(s.method) || slash != text.npos)
    s.source = kMethodOption;
  else if (!treats_contact(before) || before == Method::time_stepping)
    s.source = {};
  if (slash == text.npos) return;
  std::string scheme = text.substr(slash + 1);
  std::replace(scheme.begin(), scheme.end(), '_', '-');
  if (s.method == Method::time_stepping) {
    if (scheme != "moreau" && scheme != "generalized-alpha") {
      std::string hint = did_you_mean(scheme, {"moreau", "generalized-alpha"});
      if (hint.empty()) hint = "time-stepping has the schemes moreau and generalized-alpha";
      throw InputError(fmt::format("--method: time-stepping has no scheme `{}`", scheme), hint);
    }
    s.time_stepping = scheme == "moreau" ? TimeStepping::moreau : TimeStepping::generalized_alpha;
    return;
  }
  if (!treats_contact(s.method))
    throw InputError(fmt::format("--method: `{}` has no schemes to choose from", method_name(s.method)));
  s.scheme = method_named(scheme);
  if (treats_contact(s.scheme))
    throw InputError(
        fmt::format("--method: `{}` is not a scheme of {}", scheme, method_name(s.method)),
        "choose among rk4, dopri5, radau5, generalized-alpha, euler, symplectic-euler, verlet, bdf and adams");
}

bool chosen_by_program(const Simulate& s) {
  if (s.method == Method::time_stepping) return false;
  return s.source.file.empty() && s.source.line == 0;
}

// Where nobody gave a step: a thousandth of the run, whatever is recorded of it.
double default_step(const Simulate& s) { return (s.end - s.start) / kSamples; }

void decide_steps(Model& model) {
  Simulate& s = model.simulate;
  const double length = s.end - s.start;
  if (s.checkpoint_interval <= 0) s.checkpoint_interval = length / kCheckpoints;
  if (s.output_step > 0) return;
  if (has_fixed_step(stepping(s)) && s.step > 0) {
    // A whole number of steps, so that samples are step ends and carry no interpolation.
    const double most = std::max(1.0, std::round(length / kSamples / s.step));
    for (double m = most; m >= std::max(1.0, most - kSamples); --m) {
      s.output_step = m * s.step;
      if (all_multiples(model, s.output_step)) return;
    }
    s.output_step = most * s.step;
    return;
  }
  for (int n = kSamples; n <= 2 * kSamples; ++n) {
    s.output_step = length / n;
    if (all_multiples(model, s.output_step)) return;
  }
  s.output_step = length / kSamples;
}

RunSettings run_settings(const Model& model) {
  const Simulate& s = model.simulate;
  RunSettings settings;
  settings.integrator.scheme = scheme_of(s);
  settings.integrator.automatic = chosen_by_program(s);
  settings.integrator.step = s.step;
  settings.integrator.max_step = s.max_step;
  settings.integrator.relative_tolerance = s.relative_tolerance;
  settings.integrator.absolute_tolerance = s.absolute_tolerance;
  settings.integrator.rho_inf = s.rho_inf;
  settings.integrator.alpha_weights = weights_of(s);
  settings.integrator.max_order = s.max_order;
  settings.integrator.fixed_point = s.fixed_point;
  settings.integrator.project = s.project;
  settings.end = s.end;
  settings.output_step = s.output_step;
  settings.checkpoint_interval = s.checkpoint_interval;
  return settings;
}

std::optional<double> explicit_limit(const Simulate& simulate) {
  if (simulate.method == Method::time_stepping)
    return simulate.time_stepping == TimeStepping::moreau ? std::optional(2.0) : std::nullopt;
  switch (scheme_of(simulate)) {
    case Scheme::rk4:
      return 2 * std::numbers::sqrt2;
    case Scheme::symplectic_euler:
    case Scheme::verlet:
      return 2;
    case Scheme::euler:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace clatter::study
