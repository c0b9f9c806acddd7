// Motions with contacts and their transition matrices beside differences of whole trajectories.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <memory>
#include <string>
#include <vector>

#include "analysis/contact_transition.hpp"
#include "model/load.hpp"

namespace clatter {

struct Machine {
  explicit Machine(const std::string& text) : Machine(load_model_text(text, "machine.yaml")) {}
  explicit Machine(Model model)
      : system(System::compile(std::move(model))),
        contacts(contact::ContactSystem::compile(system)),
        engine(system),
        stepper(contacts, engine, settings()) {}
  static IntegratorSettings settings() {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = s.absolute_tolerance = 1e-12;
    return s;
  }
  State run(const State& from, double t) {
    stepper.start(from);
    while (stepper.state().t < t || stepper.undecided()) stepper.step(t);
    return stepper.state();
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const contact::ContactSystem> contacts;
  Engine engine;
  contact::EventDriven stepper;
};

struct Outcome {
  Mat Phi;
  std::vector<ContactJump> jumps;
  double worst = 0;  // largest deviation of a column from its difference, over the norm of Phi
  State end;
};

// Phi at t, and its columns against central differences of whole trajectories whose starts keep what is closed.
// Truncation eps^2 = 1e-10 times third derivatives, trajectories good to 1e-12 / eps = 1e-7.
inline Outcome compare(const std::string& text, double t, double eps = 1e-5) {
  Machine m(text);
  const int nv = m.engine.sizes().nv;
  ContactTransition transition(m.stepper);
  transition.start(m.system->initial);
  const State s0 = transition.state();
  const Mat Pi = transition.matrix();
  const auto nz = static_cast<int>(s0.z.size());  // those of contacts too, which the engine does not know
  transition.advance_to(t);
  Outcome out{transition.matrix(), transition.jumps(), 0, transition.state()};

  for (int j = 0; j < Pi.cols(); ++j) {
    const auto moved = [&](double size) {
      State s = s0;
      const Vec u = size * Pi.col(j).head(nv);
      m.engine.plus(s0.q, u, s.q);
      s.v += size * Pi.col(j).segment(nv, nv);
      s.z += size * Pi.col(j).tail(nz);
      return m.run(s, t);
    };
    const State plus = moved(eps), minus = moved(-eps);
    Vec up(nv), um(nv), d(2 * nv + nz);
    m.engine.minus(plus.q, out.end.q, up);
    m.engine.minus(minus.q, out.end.q, um);
    d << up - um, plus.v - minus.v, plus.z - minus.z;
    const double error = (out.Phi.col(j) - d / (2 * eps)).norm() / out.Phi.norm();
    if (error > 1e-6)
      ADD_FAILURE() << "column " << j << "\nPhi         " << out.Phi.col(j).transpose() << "\ndifferences "
                    << d.transpose() / (2 * eps);
    out.worst = std::max(out.worst, error);
  }
  return out;
}

inline int impacts(const Outcome& o) {
  int count = 0;
  for (const ContactJump& j : o.jumps) count += j.impacts;
  return count;
}

inline int rank(const Mat& A) {
  Eigen::JacobiSVD<Mat> svd(A);
  svd.setThreshold(1e-8);
  return static_cast<int>(svd.rank());
}

inline std::string with(std::string text, const std::string& mark, const std::string& value) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), value);
  return text;
}

}  // namespace clatter
