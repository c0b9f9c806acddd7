// Functions of quantities, force elements and loads (Compiler).
#include <algorithm>

#include "base/error.hpp"
#include "engine/compiler.hpp"
#include "model/expression.hpp"
#include "model/quantities.hpp"

namespace clatter {

int Compiler::channel(const std::string& name) {
  sys_.channel_names.push_back(name);
  return static_cast<int>(sys_.channel_names.size()) - 1;
}

int Compiler::new_state() {
  z0_.push_back(0);
  return nz_++;
}

CompiledFunction Compiler::function(const Function& f, bool own_inputs) {
  CompiledFunction out;
  out.constant = f.constant;
  out.expression = f.expression;
  for (const std::string& name : f.inputs) out.inputs.push_back(input(name, f.source, own_inputs));
  return out;
}

FunctionInput Compiler::input(const std::string& name, const Source& source, bool own_inputs) {
  if (name == "t") return {FunctionInput::Kind::time, -1};
  if (own_inputs && name == "e") return {FunctionInput::Kind::own_value, -1};
  if (own_inputs && name == "de") return {FunctionInput::Kind::own_rate, -1};
  return quantity(name, source);
}

// A scalar quantity as an input: value or rate of a measure, or an inner state.
FunctionInput Compiler::quantity(const std::string& name, const Source& source) {
  std::vector<std::string> known;  // for the nearest word
  const auto after = [&](const std::string& object) -> std::optional<std::string> {
    if (name.size() <= object.size() || name.compare(0, object.size(), object) != 0 || name[object.size()] != '.')
      return std::nullopt;
    return name.substr(object.size() + 1);
  };
  const auto axis_of = [](const std::string& word) {
    return word.size() == 1 && word[0] >= 'x' && word[0] <= 'z' ? word[0] - 'x' : -1;
  };

  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    const std::optional<std::string> rest = after(body.name);
    struct Place {
      std::string prefix;
      Placement placement;
      std::string marker;
    };
    std::vector<Place> places = {{"", Placement{}, ""}};
    for (const FrameDef& f : body.frames)
      places.push_back({f.name + ".", f.placement, deforms(body.kind) ? f.name : ""});
    if (is_flexible(body.kind)) {
      const FlexibleIndex& index = sys_.flexible[static_cast<std::size_t>(sys_.bodies[i].flexible)];
      for (int k = 0; k < index.states; ++k)
        for (const char* what : {"eta.", "rate.eta."}) {
          const std::string word = what + std::to_string(index.first + k + 1);
          known.push_back(body.name + "." + word);
          if (!rest || *rest != word) continue;
          Measure m;
          m.q = index.q + k;
          m.velocity = index.v + k;
          return {*what == 'e' ? FunctionInput::Kind::value : FunctionInput::Kind::rate, add_measure(m)};
        }
    }
    for (const auto& [prefix, placement, marker] : places) {
      for (const char* what : {"position", "velocity"})
        for (const char* c : {"x", "y", "z"}) known.push_back(body.name + "." + prefix + what + "." + c);
      if (!rest || rest->compare(0, prefix.size(), prefix) != 0) continue;
      const std::string word = rest->substr(prefix.size());
      const std::size_t dot = word.find('.');
      const std::string what = word.substr(0, dot);
      const int axis = dot == std::string::npos ? -1 : axis_of(word.substr(dot + 1));
      if ((what == "position" || what == "velocity") && axis >= 0) {
        Measure m;
        m.kind = MeasureKind::coordinate;
        m.params.a = Vec3::Unit(axis);
        m.a = world_frame_;
        m.b = frame_of({static_cast<int>(i), placement, body.name + "." + prefix, source, marker});
        return {what == "position" ? FunctionInput::Kind::value : FunctionInput::Kind::rate, add_measure(m)};
      }
      if (is_planar(body.kind) && !is_particle(body.kind) && prefix.empty() &&
          (word == "angle" || word == "angular_velocity.z")) {
        Measure m;
        m.kind = MeasureKind::angle;
        m.a = world_frame_;
        m.b = sys_.bodies[i].frame;
        const int index = add_measure(m);
        count_turns(index);
        return {word == "angle" ? FunctionInput::Kind::value : FunctionInput::Kind::rate, index};
      }
    }
  }
  for (std::size_t i = 0; i < model_.joints.size(); ++i) {
    const Joint& j = model_.joints[i];
    const std::optional<std::string> rest = after(j.name);
    for (const JointStep& s : joint_steps(j.kind)) {
      if (s.component.empty() || s.component == "rotation") continue;
      known.push_back(j.name + "." + s.component);
      known.push_back(j.name + ".rate." + s.component);
    }
    if (!rest) continue;
    const bool rate = rest->compare(0, 5, "rate.") == 0 || *rest == "rate";
    std::string component = *rest == "rate" ? "" : rate ? rest->substr(5) : *rest;
    if (component.empty()) {
      const std::vector<JointStep> steps = joint_steps(j.kind);
      if (steps.size() == 1) component = steps[0].component;
      if (j.kind == JointKind::distance) component = "distance";
    }
    if (const std::optional<int> m = component_measure(static_cast<int>(i), component, true))
      return {rate ? FunctionInput::Kind::rate : FunctionInput::Kind::value, *m};
  }
  for (const ForceElement& e : model_.force_elements) {
    const std::optional<std::string> rest = after(e.name);
    for (const char* what : {"length", "rate"}) known.push_back(e.name + "." + what);
    if (!rest) continue;
    const auto state = state_of_element_.find(e.name);
    if (*rest == "state" && state != state_of_element_.end()) return {FunctionInput::Kind::state, state->second};
    if (*rest == "length" || *rest == "angle" || *rest == "displacement" || *rest == "rate") {
      const auto d = deformation_of_element_.find(e.name);
      if (d != deformation_of_element_.end())
        return {*rest == "rate" ? FunctionInput::Kind::rate : FunctionInput::Kind::value,
                sys_.deformations[d->second].terms[0].measure};
    }
  }
  const UnknownQuantity unknown = unknown_quantity(name, known);
  fail(source, unknown.message + " (or one that a formula cannot use)", unknown.hint);
}

int Compiler::actuator_state(const std::string& element, const ActuatorLaw& law) {
  const auto [it, fresh] = state_of_element_.emplace(element, 0);
  if (fresh) {
    it->second = new_state();
    z0_[it->second] = law.initial;
  }
  return it->second;
}

void Compiler::set_law(Deformation& d, const Law& law, const Source& source) {
  d.status = DeformationStatus::elastic;
  if (const auto* formula = std::get_if<FormulaLaw>(&law)) {
    d.stress = Deformation::Stress::formula;
    d.formula = function(formula->sigma, true);
    d.channel = channel(d.element);
    return;
  }
  if (const auto* actuator = std::get_if<ActuatorLaw>(&law)) {
    if (!(actuator->time_constant > 0))
      fail(source, "the time constant of the actuator `" + d.element + "` must be positive");
    d.stress = Deformation::Stress::actuator;
    d.time_constant = actuator->time_constant;
    d.gain = actuator->gain;
    d.z = actuator_state(d.element, *actuator);
    d.formula = function(actuator->command, true);
    d.channel = channel(d.element);
    return;
  }
  d.law = compile_law(law, source, sys_.law_tables);
  if (d.law.d != 0) d.channel = channel(d.element);
}

void Compiler::build_force_elements() {
  // Two passes: measures and states of all elements first, so that a formula may use those of an element written later.
  std::vector<int> created;
  for (const ForceElement& e : model_.force_elements) {
    Deformation d;
    d.element = e.name;
    d.angular = e.kind == ForceElement::Kind::angle;
    int measure = -1;
    if (!e.quantity.empty()) {
      const FunctionInput in = quantity(e.quantity, e.source);
      if (in.kind != FunctionInput::Kind::value)
        fail(e.source,
             "the force element `" + e.name + "` needs a position or an angle, not the rate `" + e.quantity + "`");
      measure = in.index;
      d.angular = sys_.measures[measure].velocity >= 0 ? sys_.velocity_angular[sys_.measures[measure].velocity]
                                                       : sys_.measures[measure].kind == MeasureKind::angle ||
                                                             sys_.measures[measure].kind == MeasureKind::swing ||
                                                             sys_.measures[measure].kind == MeasureKind::rotation;
    } else {
      Measure m;
      m.a = frame_of(e.a);
      m.b = frame_of(e.b);
      m.kind = e.kind == ForceElement::Kind::distance ? MeasureKind::distance
               : e.kind == ForceElement::Kind::angle  ? MeasureKind::angle
                                                      : MeasureKind::coordinate;
      m.params.a = Vec3::Unit(e.axis);
      measure = add_measure(m);
    }
    count_turns(measure);
    d.name = e.name + (d.angular ? ".angle" : e.kind == ForceElement::Kind::distance ? ".length" : ".displacement");
    d.terms[0] = {measure, 1};
    d.count = 1;
    deformation_of_element_[e.name] = static_cast<int>(sys_.deformations.size());
    sys_.element_deformation.push_back(static_cast<int>(sys_.deformations.size()));
    created.push_back(static_cast<int>(sys_.deformations.size()));
    sys_.deformations.push_back(std::move(d));
    sys_.joint_of_deformation.push_back(-1);
    if (const auto* actuator = std::get_if<ActuatorLaw>(&e.law)) actuator_state(e.name, *actuator);
  }
  for (std::size_t i = 0; i < created.size(); ++i) {
    Deformation d = sys_.deformations[created[i]];
    set_law(d, model_.force_elements[i].law, model_.force_elements[i].source);
    sys_.deformations[created[i]] = std::move(d);
  }
}

void Compiler::build_loads() {
  for (const Load& l : model_.loads) {
    CompiledLoad load;
    load.name = l.name;
    load.torque = l.torque;
    load.follower = l.follower;
    load.frame = frame_of(l.at);
    for (const Attachment* a : {&l.at, l.reaction ? &*l.reaction : nullptr})
      if (a && l.torque && !sys_.turns(*a))
        fail(a->source, "the torque `" + l.name + "` acts on `" + a->label + "`, a boundary node without rotations");
    if (l.reaction) load.reaction = frame_of(*l.reaction);
    for (int k = 0; k < 3; ++k) load.component[k] = function(l.component[k]);
    load.channel = channel(l.name);
    sys_.loads.push_back(std::move(load));
  }
}

}  // namespace clatter
