#include "study/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/error.hpp"
#include "model/load.hpp"
#include "model/units.hpp"
#include "record/hash.hpp"
#include "study/input_files.hpp"
#include "study/method.hpp"

namespace clatter::study {

namespace {

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

std::string exact(double x) { return fmt::format("{}", x); }  // shortest text that reads back to the same bits

}  // namespace

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
  if (has_fixed_step(s) && !(s.step > 0) && changes.default_step) s.step = default_step(s);
  if (has_fixed_step(s) && !(s.step > 0)) {
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
  s.source = chosen ? Source{} : kMethodOption;
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

}  // namespace clatter::study
