// Events within a step: where on its dense output a function first changes sign, and how the step's end is moved there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrate/integrator.hpp"
#include "integrate/root.hpp"

namespace clatter {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Where in a step functions are looked at: two crossings between neighbours stay unseen. The first point is where a
// function that has just fired shows its new sign.
constexpr double kSamples[] = {0.01, 0.25, 0.5, 0.75, 1.0};

double sign_of(double g) { return g > 0 ? 1.0 : (g < 0 ? -1.0 : 0.0); }

double time_tolerance(double t0, double t1) {
  return std::max(1e-14 * (t1 - t0), 2 * kEpsilon * std::max(std::abs(t0), std::abs(t1)));
}

}  // namespace

void Integrator::Events::setup(int count, const State& like) {
  g.setZero(count);
  g_now.setZero(count);
  sign.setZero(count);
  before.setZero(count);
  g_before.setZero(count);
  g_sample.setZero(count);
  fired.reserve(static_cast<std::size_t>(count));
  sample = like;
}

void Integrator::Events::take_signs() {
  for (Eigen::Index i = 0; i < g_now.size(); ++i) sign[i] = sign_of(g_now[i]);
  for (const int i : fired) sign[i] = 0;
}

double Integrator::event_on_dense(int index, double theta, double t1) {
  dense(theta, events_.sample);
  events_.sample.t = now_.t + theta * (t1 - now_.t);
  dynamics_.events(events_.sample, events_.g);
  return events_.g[index];
}

int Integrator::first_event(double t1, double& t_event) {
  Events& e = events_;
  e.before = e.sign;
  e.g_before = e.g_now;
  double theta_before = 0;
  const bool standing = (e.sign.array() == 0).any();
  const auto skipped = [&](int i) { return std::find(e.fired.begin(), e.fired.end(), i) != e.fired.end(); };
  for (const double theta : kSamples) {
    if (theta == kSamples[0] && !standing) continue;
    if (theta == 1.0) {
      dynamics_.events(trial_, e.g_sample);
    } else {
      event_on_dense(0, theta, t1);
      e.g_sample = e.g;
    }
    int first = -1;
    double theta_first = 2;
    for (int i = 0; i < n_.ne; ++i) {
      const double sign = sign_of(e.g_sample[i]);
      if (e.before[i] == 0) {
        e.before[i] = sign;
        continue;
      }
      if (sign == e.before[i] || skipped(i)) continue;
      const double root = find_root([&](double x) { return event_on_dense(i, x, t1); }, theta_before, theta,
                                    e.g_before[i], e.g_sample[i], 1e-14);
      if (root < theta_first) {
        theta_first = root;
        first = i;
      }
    }
    if (first >= 0) {
      t_event = now_.t + theta_first * (t1 - now_.t);
      return first;
    }
    e.g_before = e.g_sample;
    theta_before = theta;
  }
  return -1;
}

bool Integrator::land_on_event(int index, double t_event, double t1) {
  Events& e = events_;
  for (int chain = 0; chain <= n_.ne; ++chain) {
    const double tolerance = time_tolerance(now_.t, t1);
    const double sign_before = e.before[index];
    double low = now_.t, high = t1, t = t_event, t_old = 0, g_old = 0;
    for (int iteration = 0; iteration < 80; ++iteration) {
      if (t - now_.t <= tolerance) {
        e.fired.clear();
        e.fired.push_back(index);
        return false;
      }
      if (!try_attempt(t, true)) {
        // Shorter steps are easier: the event is searched from the near side.
        t = 0.5 * (now_.t + t);
        continue;
      }
      dynamics_.events(trial_, e.g_sample);
      const double g = e.g_sample[index];
      if (g == 0) break;
      (sign_of(g) == sign_before ? low : high) = t;
      if (high - low <= tolerance) break;
      double slope;
      if (iteration == 0) {
        constexpr double kBack = 1e-3;
        slope = (g - event_on_dense(index, 1 - kBack, t)) / (kBack * (t - now_.t));
      } else {
        slope = (g - g_old) / (t - t_old);
      }
      double t_next = t - g / slope;
      // Secants that do not settle (a kink at the event) give way to halving.
      if (!(t_next > low && t_next < high) || iteration > 12) t_next = 0.5 * (low + high);
      if (std::abs(t_next - t) <= tolerance) break;
      t_old = t;
      g_old = g;
      t = t_next;
    }
    guard_finite();
    e.fired.clear();
    e.fired.push_back(index);
    report_.at_event = true;
    // The repeated step may show another function crossing before this one, or at the same time.
    double t_other = 0;
    int other = first_event(t, t_other);
    const double same = 1e-12 * (t1 - now_.t) + tolerance;
    if (other >= 0 && t_other < t - same) {
      e.fired.clear();
      index = other;
      t_event = t_other;
      t1 = t;
      continue;
    }
    while (other >= 0) {
      e.fired.push_back(other);
      other = first_event(t, t_other);
    }
    return true;
  }
  return true;
}

}  // namespace clatter
