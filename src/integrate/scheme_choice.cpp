#include "integrate/scheme_choice.hpp"

#include <algorithm>
#include <cmath>

#include "integrate/integrator.hpp"

namespace clatter {

SchemeChoice::SchemeChoice(const IntegratorSettings& settings)
    : settings_(settings), fast_limit_(std::max(kFast, 6 * std::pow(settings.relative_tolerance, 0.2))) {}

void SchemeChoice::start() { *this = SchemeChoice(settings_); }

double SchemeChoice::first_step(double next) const {
  return next > 0 && explicit_step_ > 0 ? std::min(next, explicit_step_) : std::max(next, explicit_step_);
}

void SchemeChoice::after(const StepReport& step) {
  if (implicit_)
    after_implicit(step);
  else
    after_explicit(step);
}

void SchemeChoice::after_explicit(const StepReport& step) {
  ++explicit_steps_;
  if (step.stiffness >= fast_limit_) {
    if (suspicious_ == 0) {
      row_begin_ = step.t - step.h;
      row_length_ = 0;
      row_steps_ = 0;
    }
    const bool stiff = step.stiffness >= std::max(kStiff, fast_limit_);
    suspicious_ += stiff ? kStiffCounts : 1;
    ++row_steps_;
    ++fast_;
    if (stiff) ++stiff_;
    calm_ = 0;
    row_length_ += step.h;
  } else if (suspicious_ > 0 && ++calm_ >= kCalm) {
    suspicious_ = calm_ = 0;
  }
  if (peace_ > 0) --peace_;
  if (suspicious_ < kSuspicious) return;
  if (fastest_ < 0) {
    fastest_ = step.stiffest;
    since_ = row_begin_;
  }
  if (!settings_.automatic || banned_ || peace_ > 0) return;
  // A trial that failed at once: the wait before the next one doubles.
  if (proven_) next_return_ = explicit_steps_ < kReturn ? std::min(2 * next_return_, kLongest) : kReturn;
  explicit_step_ = row_length_ / row_steps_;
  implicit_ = true;
  stay_ = 0;
  suspicious_ = calm_ = 0;
  proven_ = false;
}

void SchemeChoice::after_implicit(const StepReport& step) {
  ++stay_;
  ++implicit_steps_;
  if (step.h >= kWorth * explicit_step_) proven_ = true;
  if (!proven_ && stay_ >= kTrial) {
    peace_ = next_peace_;
    next_peace_ = std::min(2 * next_peace_, kLongest);
  } else if (stay_ < next_return_) {
    return;
  }
  implicit_ = false;
  explicit_steps_ = 0;
}

bool SchemeChoice::failed() {
  if (!implicit_) return false;
  implicit_ = false;
  banned_ = true;
  explicit_steps_ = 0;
  return true;
}

void SchemeChoice::exchange(Archive& archive) {
  for (bool* flag : {&implicit_, &banned_, &proven_}) archive.count(*flag);
  for (int* count : {&suspicious_, &calm_, &row_steps_, &fastest_}) archive.count(*count);
  for (long* count :
       {&peace_, &next_peace_, &stay_, &next_return_, &explicit_steps_, &fast_, &stiff_, &implicit_steps_})
    archive.count(*count);
  for (double* value : {&row_begin_, &row_length_, &explicit_step_, &since_}) archive.value(*value);
}

}  // namespace clatter
