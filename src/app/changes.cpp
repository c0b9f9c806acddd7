#include "app/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/flexible.hpp"
#include "app/input_files.hpp"
#include "base/error.hpp"
#include "model/load.hpp"
#include "model/method_words.hpp"
#include "model/units.hpp"
#include "record/hash.hpp"

namespace clatter::app {

namespace {

constexpr int kSamples = 1000;     // of a run whose model does not say
constexpr int kCheckpoints = 100;  // likewise
constexpr double kOnGrid = 1e-9;   // a time this close to a sample, in sample intervals, is on it

// Where the scheme that takes the steps was named (Simulate::source), if not by the model.
const Source kOption{"--method", 0, 0};

bool has_fixed_step(Method method) {
  return method != Method::dopri5 && method != Method::radau5 && method != Method::bdf && method != Method::adams;
}
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
    s.source = kOption;
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

bool joint_coordinates(const std::string& word) {
  if (word == "joint") return true;
  if (word == "absolute") return false;
  std::string hint = did_you_mean(word, {"joint", "absolute"});
  throw InputError(fmt::format("--coordinates: `{}` is neither joint nor absolute", word), hint);
}

double positive(double value, const char* option) {
  if (std::isfinite(value) && value > 0) return value;
  throw InputError(fmt::format("{} must be a positive number, not {}", option, value));
}

std::vector<std::pair<std::string, std::string>> parameter_pairs(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
      throw InputError(fmt::format("--set: `{}` is not NAME=VALUE", text), "for example  --set length=\"15 mm\"");
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

// Where nobody gave a step: a thousandth of the run, whatever is recorded of it.
double default_step(const Simulate& s) { return (s.end - s.start) / kSamples; }

std::string exact(double x) { return fmt::format("{}", x); }  // shortest text that reads back to the same bits

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

bool chosen_by_program(const Simulate& s) {
  if (s.method == Method::time_stepping) return false;
  return s.source.file.empty() && s.source.line == 0;
}

double seconds(const std::string& text, const char* option) {
  const auto number = match_number(text);
  std::string_view rest = std::string_view(text).substr(number ? number->length : 0);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  double factor = 1;
  bool ok = number.has_value();
  if (ok && !rest.empty()) {
    const auto unit = match_unit(rest);
    ok = unit && unit->length == rest.size() && unit->unit.dimension == dimension_of("s");
    if (ok) factor = unit->unit.factor;
  }
  if (!ok) throw InputError(fmt::format("{}: `{}` is not a time", option, text), "for example  0.5 ms  or  0.0005");
  return positive(number->value * factor, option);
}

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

Model load_changed(const std::string& path, const Changes& changes, const BodyMaking& making) {
  LoadOptions options;
  make_flexible_bodies(options, making);
  options.parameters = parameter_pairs(changes.parameters);
  if (changes.method) {
    Simulate ignored;  // a wrong word is told before a wrong model
    choose_method(*changes.method, ignored);
  }
  std::optional<bool> joint;
  if (changes.coordinates) joint = joint_coordinates(*changes.coordinates);

  Model model = changes.text ? load_model_text(*changes.text, path, options) : load_model(path, options);
  Simulate& s = model.simulate;
  if (changes.method) choose_method(*changes.method, s);
  const bool rigid = model.crowd || std::any_of(model.contacts.begin(), model.contacts.end(), [](const Contact& c) {
                       return std::holds_alternative<RigidContact>(c.law);
                     });
  const bool friction =
      std::any_of(model.joints.begin(), model.joints.end(), [](const Joint& j) { return j.friction.has_value(); });
  if ((rigid || friction) && !treats_contact(s.method))
    throw InputError(fmt::format("--method: `{}` cannot integrate {} by itself", method_name(s.method),
                                 rigid ? "rigid contacts" : "friction in joints"),
                     "use event-driven, time-stepping or smooth");
  if (joint) model.joint_coordinates = *joint;
  if (changes.step) s.step = positive(*changes.step, "--step");
  if (changes.tolerance) {
    // Both tolerances move together: their ratio is the model's choice.
    const double ratio = s.absolute_tolerance / s.relative_tolerance;
    s.relative_tolerance = positive(*changes.tolerance, "--tolerance");
    s.absolute_tolerance = ratio * s.relative_tolerance;
  }
  if (changes.end) {
    if (!(std::isfinite(*changes.end) && *changes.end > s.start)) {
      throw InputError(fmt::format("--end {} must lie after the start at {} s", *changes.end, s.start));
    }
    s.end = *changes.end;
  }
  if (has_fixed_step(stepping(s)) && !(s.step > 0) && changes.default_step) s.step = default_step(s);
  if (has_fixed_step(stepping(s)) && !(s.step > 0)) {
    throw InputError(fmt::format("{} has a fixed step, and the model gives none", method_name(stepping(s))),
                     "add --step, for example  --step 0.001");
  }
  decide_steps(model);
  return model;
}

Settings settings_of(const Model& model, const Changes& changes) {
  const Simulate& s = model.simulate;
  Settings list{{"method", method_name(s.method)},
                {"scheme", method_name(s.scheme)},
                {"scheme_chosen_by", chosen_by_program(s) ? "program" : "user"},
                {"time_stepping", s.time_stepping == TimeStepping::moreau ? "moreau" : "generalized-alpha"},
                {"theta", exact(s.theta)},
                {"coordinates", model.joint_coordinates ? "joint" : "absolute"},
                {"start", exact(s.start)},
                {"end", exact(s.end)},
                {"step", exact(s.step)},
                {"max_step", exact(s.max_step)},
                {"output_step", exact(s.output_step)},
                {"tolerance", exact(s.relative_tolerance)},
                {"absolute_tolerance", exact(s.absolute_tolerance)},
                {"rho_infinity", exact(s.rho_inf)},
                {"checkpoint", exact(s.checkpoint_interval)},
                {"project", s.project ? "true" : "false"}};
  for (const auto& [name, value] : parameter_pairs(changes.parameters)) list.emplace_back("parameter " + name, value);
  return list;
}

Model load_recorded(const record::RunInfo& info, const BodyMaking& making, InputFiles files) {
  if (info.model_files.empty()) throw InputError("the result holds no model text, so it cannot be continued");
  if (record::model_hash(info.model_files) != info.model_hash) {
    throw InputError("the model text in the result does not match its hash: the file was changed or is damaged");
  }
  LoadOptions options;
  make_flexible_bodies(options, making);
  if (files == InputFiles::recorded)
    options.make_flexible = [&info, make = options.make_flexible](const FlexibleSource& source,
                                                                  const std::string& body) {
      refuse_unrecorded(source, info.inputs);
      return make(source, body);
    };
  options.read_file = [&](const std::string& path) -> std::optional<std::string> {
    for (const record::SourceFile& file : info.model_files) {
      if (file.path == path) return file.text;
    }
    return std::nullopt;
  };
  const std::string_view prefix = "parameter ";
  for (const auto& [key, value] : info.settings) {
    if (key.starts_with(prefix)) options.parameters.emplace_back(key.substr(prefix.size()), value);
  }
  Model model = load_model(info.model_files.front().path, options);

  const auto setting = [&](const char* key) -> std::string {
    for (const auto& [k, value] : info.settings) {
      if (k == key) return value;
    }
    throw InputError(fmt::format("the result lacks the setting `{}`, so it cannot be continued", key));
  };
  const auto value = [&](const char* key) { return std::strtod(setting(key).c_str(), nullptr); };
  Simulate& s = model.simulate;
  s.method = method_named(setting("method"));
  s.scheme = method_named(setting("scheme"));
  // Results from before there was a choice lack it, and had none.
  const bool chosen = std::any_of(info.settings.begin(), info.settings.end(), [](const auto& entry) {
    return entry.first == "scheme_chosen_by" && entry.second == "program";
  });
  s.source = chosen ? Source{} : kOption;
  s.time_stepping = setting("time_stepping") == "moreau" ? TimeStepping::moreau : TimeStepping::generalized_alpha;
  s.theta = value("theta");
  model.joint_coordinates = joint_coordinates(setting("coordinates"));
  s.start = value("start");
  s.end = value("end");
  s.step = value("step");
  s.max_step = value("max_step");
  s.output_step = value("output_step");
  s.relative_tolerance = value("tolerance");
  s.absolute_tolerance = value("absolute_tolerance");
  s.rho_inf = value("rho_infinity");
  s.checkpoint_interval = value("checkpoint");
  s.project = setting("project") == "true";
  return model;
}

}  // namespace clatter::app
