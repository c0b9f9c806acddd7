// SchemeChoice: whether steps are kept short by stability instead of accuracy, and who steps then.
//
// An explicit step of length h through equations whose fastest rate is |lambda| stays bounded only while h |lambda| is
// below a limit (dopri5: 3.3 on the real axis, 1.0 on the imaginary one), however slow the motion itself is: stiffness.
// dopri5 tells h |lambda| from its last two stages, which stand at the same time (StepReport::stiffness; Hairer and
// Wanner, Solving ODEs II, IV.2). What is found there, measured on oscillators:
//
//   0.03, 0.1, 0.4    vibrations that are the motion, at tolerances of 1e-11, 1e-8, 1e-5: 4 tolerance^(1/5)
//   0.4 .. 0.8        vibrations so small that only the sharpest part of the tolerance sees them
//   0.5 .. 1.3, 3     stability alone: vibrations, dampers
//
// Above kFast = 0.4 (or 6 tolerance^(1/5)) a step is fast, above kStiff = 0.8 it is stiff. kSuspicious fast ones, or a
// fifth as many stiff ones, with no more than kCalm calm ones between two, are a suspicion. Stiff steps are believed
// that soon because steps at the limit feed fast vibrations up to the tolerance, where an implicit scheme has to follow
// them.
//
// Where the caller leaves the choice to the program (IntegratorSettings::automatic), radau5 goes on from there, by the
// same tolerances. It stays if its steps become kWorth times as long, which is what they cost; if not, within kTrial
// steps, the explicit scheme goes on and is left in peace for longer each time. Every kReturn steps of radau5 the
// explicit scheme is tried again, so that a contact that opened or a vibration that died leaves no slower motion
// behind; each such trial that fails doubles the wait.
//
// All of it counts steps, not seconds: the same model gives the same bits.
#pragma once

#include "integrate/archive.hpp"
#include "integrate/settings.hpp"

namespace clatter {

struct StepReport;

class SchemeChoice {
 public:
  explicit SchemeChoice(const IntegratorSettings& settings);
  void start();

  Scheme scheme() const { return implicit_ ? Scheme::radau5 : settings_.scheme; }
  // Of the scheme that takes over, which finds a longer one soon; `next`: that of the scheme before, 0: unknown.
  double first_step(double next) const;
  // After an accepted step that ended at no event: scheme() may be another one from here on.
  void after(const StepReport& step);
  // The implicit scheme cannot go on: the other one does, for good. False: there is no other.
  bool failed();

  // Of the explicit scheme: steps that were fast, and those of them that were stiff.
  long fast_steps() const { return fast_; }
  long stiff_steps() const { return stiff_; }
  long implicit_steps() const { return implicit_steps_; }
  double fast_since() const { return since_; }  // begin of the first suspicion
  int fastest() const { return fastest_; }      // velocity that showed it most, there; -1: none

  void exchange(Archive& archive);

 private:
  static constexpr double kFast = 0.4, kStiff = 0.8, kWorth = 5;
  static constexpr int kSuspicious = 15, kStiffCounts = 5, kCalm = 6, kTrial = 60;
  static constexpr long kReturn = 200, kPeace = 2000, kLongest = 1000000;

  void after_explicit(const StepReport& step);
  void after_implicit(const StepReport& step);

  IntegratorSettings settings_;
  double fast_limit_;
  bool implicit_ = false, banned_ = false, proven_ = false;
  int suspicious_ = 0, calm_ = 0;
  int row_steps_ = 0;
  double row_begin_ = 0, row_length_ = 0;  // time covered by the present row of suspicious steps
  double explicit_step_ = 0;               // mean of that row
  long peace_ = 0, next_peace_ = kPeace;   // explicit steps without suspicion of it
  long stay_ = 0, next_return_ = kReturn;  // implicit steps since the last change
  long explicit_steps_ = 0;                // likewise
  long fast_ = 0, stiff_ = 0, implicit_steps_ = 0;
  double since_ = 0;
  int fastest_ = -1;
};

}  // namespace clatter
