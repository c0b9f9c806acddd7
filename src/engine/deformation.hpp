// Deformations: e = f(measures), and what becomes of them.
//
// A measure is a scalar function of two frames, or a joint coordinate itself. A deformation is an affine combination of
// up to four measures, e = sum_i c_i m_i - offset, or a curve formula f(m_1, m_2). Its status decides:
//   rigid, driven   e - motion(t) = 0 becomes a row of G with a multiplier
//   elastic         a stress sigma(e, de/dt, t, z) acts along the gradient: generalized force -grad(e) sigma
//   free            only observed
// The multiplier lambda of a row enters the equations of motion as +grad(e) lambda.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/law.hpp"
#include "engine/measure.hpp"
#include "model/model.hpp"

namespace clatter {

// One scalar input of a function: time, the value or the rate of a measure, an inner state, or a deformation's own e,
// de.
struct FunctionInput {
  enum class Kind { time, value, rate, state, own_value, own_rate } kind = Kind::time;
  int index = -1;
};

struct CompiledFunction {
  double constant = 0;
  std::shared_ptr<const Expression> expression;
  std::vector<FunctionInput> inputs;
  bool is_constant() const { return expression == nullptr; }
};

// A measure between two frames; or, with `velocity >= 0`, the coordinate of a one-axis link itself.
struct Measure {
  MeasureKind kind = MeasureKind::coordinate;
  MeasureParams params;
  int a = -1, b = -1;         // frames
  int q = -1, velocity = -1;  // joint coordinate and its velocity
  int block = -1, row = -1;   // instead: a row that a block brings along
  int turns = -1;             // inner state that counts turns of an angle, -1: none
  double rate_scale = 1;      // screw links: displacement a radian
};

struct Term {
  int measure = -1;
  double factor = 1;
};

enum class DeformationStatus { free, rigid, driven, elastic };

struct Deformation {
  std::string name;     // "pin.x"
  std::string element;  // "pin"
  std::array<Term, 4> terms;
  int count = 0;
  double offset = 0;
  bool nonlinear = false;  // curve: e = f(term 0, term 1)
  Curve curve;
  DeformationStatus status = DeformationStatus::free;
  bool nonholonomic = false;
  CompiledFunction motion;  // driven: target of e, or of its rate when non-holonomic
  // elastic:
  enum class Stress { law, formula, actuator } stress = Stress::law;
  CompiledLaw law;
  CompiledFunction formula;  // formula: sigma; actuator: command
  int z = -1;                // actuator state
  double time_constant = 0, gain = 0, z_initial = 0;
  int channel = -1;      // power channel: dissipation, or supply of a drive, actuator, formula
  int row = -1;          // row of G
  bool angular = false;  // unit: rad and N m instead of m and N
};

}  // namespace clatter
