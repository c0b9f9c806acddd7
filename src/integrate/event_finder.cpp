// Events within a step: where on its dense output a function first changes sign, and how the step's end is moved there.
//
// Looks are numbered: 0 the step's begin, which outlives the attempts from there; two sets of four for the stretches,
// used in turn; one just after the begin; one for the root at hand; the others for looks between.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "integrate/integrator.hpp"
#include "integrate/root.hpp"

namespace clatter {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Where a function that has just fired shows its new sign, as a part of the step.
constexpr double kJustAfter = 0.01;
constexpr int kBegin = 0, kSets[2] = {1, 5}, kAfterBegin = 9, kRoot = 10, kFirstFree = 11;
// First guess of where the function shows its new sign beyond an event, as a part of the step.
constexpr double kBeyond = 1e-8;
// How much later the event of the repeated step may lie than that on the dense output, for a secant to be believed
// before the new sign was seen.
constexpr double kLater = 1e-3;
// Attempts this near to each other, as a part of the step, whose values do not fall any more differ by rounding.
constexpr double kClose = 1e-9;
// Secants alone at first; then every other attempt halves what is left (a kink at the event).
constexpr int kSecants = 12;
// Looks that a watch may ask for between those of a stretch: what is not sure then is left to the certificate.
constexpr int kMostBetween = 400;
// Length of a moment in units of the rounding of time.
constexpr double kMoment = 4;
// Attempts to step to an event that may fail before one that ends earlier is taken.
constexpr int kMostFailed = 6;
// Looks at extremes of polynomials in a step.
constexpr int kMostDips = 4;
// Extremes this near to zero, in parts of the values' spread, are looked at: the function is not its polynomial.
constexpr double kNearZero = 0.02;

double sign_of(double g) { return g > 0 ? 1.0 : (g < 0 ? -1.0 : 0.0); }

double time_tolerance(double t0, double t1) {
  return std::max(1e-14 * (t1 - t0), 2 * kEpsilon * std::max(std::abs(t0), std::abs(t1)));
}

// The polynomial of degree four through values at 0, 1/4, ... 1.
double through_five(const double f[5], double x) {
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    double weight = f[i];
    for (int j = 0; j < 5; ++j)
      if (j != i) weight *= (4 * x - j) / (i - j);
    sum += weight;
  }
  return sum;
}

// Where the polynomial is lowest, and there its value, if lower than `least`; 0 otherwise.
double lowest_place(const double f[5], double& least) {
  constexpr double kFine = 1.0 / 32, kGolden = 0.6180339887498949;
  double place = 0;
  for (double x = kFine; x < 1; x += kFine) {
    const double value = through_five(f, x);
    if (!(value < least)) continue;
    least = value;
    place = x;
  }
  if (place == 0) return 0;
  double low = place - kFine, high = place + kFine;
  for (int k = 0; k < 24; ++k) {
    const double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    const bool left = through_five(f, a) < through_five(f, b);
    (left ? high : low) = left ? b : a;
  }
  place = 0.5 * (low + high);
  least = std::min(least, through_five(f, place));
  return place;
}

}  // namespace

void Integrator::Events::setup(int count, const State& like) {
  g.setZero(count);
  g_now.setZero(count);
  sign.setZero(count);
  before.setZero(count);
  g_sample.setZero(count);
  fired.reserve(static_cast<std::size_t>(count));
  sample = like;
  looks.resize(count, EventWatch::most_looks);
}

void Integrator::Events::take_signs() {
  for (Eigen::Index i = 0; i < g_now.size(); ++i) sign[i] = sign_of(g_now[i]);
  for (const int i : fired) sign[i] = 0;
}

bool Integrator::Events::has_fired(int index) const {
  return std::find(fired.begin(), fired.end(), index) != fired.end();
}

void Integrator::know_events() {
  if (n_.ne == 0) return;
  dynamics_.events(now_, events_.g_now);
  if (events_.watch != nullptr) events_.watch->keep(kBegin, now_.t);
}

double Integrator::event_on_dense(int index, double theta, double t1) {
  leave_if_interrupted();
  scheme().dense(theta, events_.sample);
  events_.sample.t = now_.t + theta * (t1 - now_.t);
  dynamics_.events(events_.sample, events_.g);
  return events_.g[index];
}

void Integrator::look(int look, double theta, double t1) {
  Events& e = events_;
  if (theta == 1.0)
    dynamics_.events(trial_, e.g);
  else
    event_on_dense(0, theta, t1);
  e.looks.col(look) = e.g;
  e.theta[static_cast<std::size_t>(look)] = theta;
  if (e.watch != nullptr) e.watch->keep(look, theta == 1.0 ? trial_.t : e.sample.t);
}

// Four looks after the last one of the part before.
EventWatch::Stretch Integrator::look_along(int part, int parts, double t1) {
  const int first = part == 0 ? kBegin : kSets[(part + 1) % 2] + 3, set = kSets[part % 2];
  EventWatch::Stretch stretch{first, set, set + 1, set + 2, set + 3};
  for (int k = 1; k <= 4; ++k)
    look(stretch[static_cast<std::size_t>(k)], part + 1 == parts && k == 4 ? 1.0 : (part + 0.25 * k) / parts, t1);
  return stretch;
}

void Integrator::put_ahead(int look) {
  Events& e = events_;
  const auto theta = [&](int k) { return e.theta[static_cast<std::size_t>(k)]; };
  int at = e.ahead++;
  for (; at > 0 && theta(e.pending[static_cast<std::size_t>(at) - 1]) < theta(look); --at)
    e.pending[static_cast<std::size_t>(at)] = e.pending[static_cast<std::size_t>(at) - 1];
  e.pending[static_cast<std::size_t>(at)] = look;
}

void Integrator::lay_out(const EventWatch::Stretch& stretch) {
  Events& e = events_;
  e.ahead = e.between = e.free_count = 0;
  for (int k = EventWatch::most_looks - 1; k >= kFirstFree; --k) e.free[static_cast<std::size_t>(e.free_count++)] = k;
  for (std::size_t k = 4; k > 0; --k) put_ahead(stretch[k]);
}

int Integrator::pass(int from) {
  Events& e = events_;
  if (from >= kFirstFree) e.free[static_cast<std::size_t>(e.free_count++)] = from;
  return e.pending[static_cast<std::size_t>(--e.ahead)];
}

void Integrator::look_at_dips(const EventWatch::Stretch& stretch, double t1) {
  Events& e = events_;
  int dips = 0;
  for (int i = 0; i < n_.ne && dips < kMostDips; ++i) {
    if (e.before[i] == 0 || e.has_fired(i) || (e.watch != nullptr && e.watch->covers(i))) continue;
    double f[5], least = std::numeric_limits<double>::infinity(), most = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      f[k] = e.before[i] * e.looks(i, stretch[k]);
      least = std::min(least, f[k]);
      most = std::max(most, f[k]);
    }
    // The norm of interpolation at five places is 2.21: no polynomial lies below its least value by more than 0.61 of
    // their spread. What has changed its sign is found anyway.
    if (least <= 0 || least > 0.61 * (most - least)) continue;
    const double place = lowest_place(f, least);
    if (place == 0 || least > kNearZero * (most - least)) continue;
    const double from = e.theta[static_cast<std::size_t>(stretch[0])],
                 to = e.theta[static_cast<std::size_t>(stretch[4])];
    const int free = e.free[static_cast<std::size_t>(--e.free_count)];
    look(free, from + place * (to - from), t1);
    put_ahead(free);
    ++dips;
  }
}

int Integrator::first_change(int a, int b, double t1, double& theta_event) {
  Events& e = events_;
  const double from = e.theta[static_cast<std::size_t>(a)], to = e.theta[static_cast<std::size_t>(b)];
  int first = -1;
  theta_event = to;
  e.g_sample = e.looks.col(b);
  for (int i = 0; i < n_.ne; ++i) {
    if (e.before[i] == 0 || sign_of(e.g_sample[i]) == e.before[i] || e.has_fired(i)) continue;
    const double root = find_root([&](double x) { return event_on_dense(i, x, t1); }, from, theta_event, e.looks(i, a),
                                  e.g_sample[i], 1e-14);
    if (first >= 0 && root >= theta_event) continue;
    // A function that stands on its zero has fired there, on whichever side of it rounding left the step's begin.
    if (e.sign[i] == 0 && root * (t1 - now_.t) <= time_tolerance(now_.t, t1)) {
      e.before[i] = -e.before[i];
      continue;
    }
    theta_event = root;
    first = i;
    // The others are looked at there: of those that cross later nothing more is asked.
    event_on_dense(i, root, t1);
    e.g_sample = e.g;
  }
  return first;
}

bool Integrator::look_between(int a, int b, double t1) {
  Events& e = events_;
  if (e.watch == nullptr || e.free_count == 0 || e.between >= kMostBetween) return false;
  double from = 0, to = 0;
  if (!e.watch->unsure(a, b, from, to)) return false;
  const double begin = e.theta[static_cast<std::size_t>(a)], end = e.theta[static_cast<std::size_t>(b)];
  const double theta = (0.5 * (from + to) - now_.t) / (t1 - now_.t);
  // Where two looks cannot be told apart any more nothing happens between them.
  const double sliver = time_tolerance(now_.t, t1) / (t1 - now_.t);
  if (!(theta - begin > sliver && end - theta > sliver)) return false;
  const int free = e.free[static_cast<std::size_t>(--e.free_count)];
  look(free, theta, t1);
  put_ahead(free);
  ++e.between;
  return true;
}

int Integrator::walk(int from, double t1, double& theta_event) {
  Events& e = events_;
  while (e.ahead > 0) {
    const int next = e.pending[static_cast<std::size_t>(e.ahead) - 1];
    const int first = first_change(from, next, t1, theta_event);
    if (first >= 0) {
      if (e.watch == nullptr) return first;
      // Something else may have come and gone before.
      look(kRoot, theta_event, t1);
      if (look_between(from, kRoot, t1)) continue;
      return first;
    }
    if (look_between(from, next, t1)) continue;
    for (int i = 0; i < n_.ne; ++i)
      if (e.before[i] == 0) e.before[i] = sign_of(e.looks(i, next));
    from = pass(from);
  }
  return -1;
}

int Integrator::first_event(double t1, double& t_event) {
  Events& e = events_;
  e.before = e.sign;
  e.looks.col(kBegin) = e.g_now;
  e.theta[kBegin] = 0;
  if (e.watch != nullptr) e.watch->begin();
  EventWatch::Stretch stretch = look_along(0, 1, t1);
  const int parts = e.watch != nullptr ? e.watch->parts(stretch) : 1;
  for (int part = 0; part < parts; ++part) {
    if (parts > 1) stretch = look_along(part, parts, t1);
    if (e.watch != nullptr) e.watch->bound(stretch);
    lay_out(stretch);
    if (part == 0 && (e.sign.array() == 0).any()) {
      look(kAfterBegin, kJustAfter / parts, t1);
      put_ahead(kAfterBegin);
    }
    look_at_dips(stretch, t1);
    double theta = 0;
    const int index = walk(stretch[0], t1, theta);
    if (index < 0) continue;
    t_event = now_.t + theta * (t1 - now_.t);
    return index;
  }
  return -1;
}

void Integrator::survey(double t1) {
  Events& e = events_;
  if (n_.ne == 0 || e.watch == nullptr) return;
  know_events();
  e.theta[kBegin] = 0;
  e.watch->begin();
  EventWatch::Stretch stretch = look_along(0, 1, t1);
  const int parts = e.watch->parts(stretch);
  for (int part = 0; part < parts; ++part) {
    if (parts > 1) stretch = look_along(part, parts, t1);
    e.watch->bound(stretch);
    lay_out(stretch);
    for (int from = stretch[0]; e.ahead > 0;)
      if (!look_between(from, e.pending[static_cast<std::size_t>(e.ahead) - 1], t1)) from = pass(from);
  }
}

int Integrator::stop_without_event(double& end, double& t_event) {
  events_.fired.clear();
  report_.at_event = false;
  while (!try_attempt(end, true)) {
    end = 0.5 * (now_.t + end);
    if (end - now_.t <= time_tolerance(now_.t, end)) step_too_small(end - now_.t, false);
  }
  guard_finite();
  return first_event(end, t_event);
}

Integrator::Landing Integrator::approach_event(int index, double t_event, double t1, double& t, double& low) {
  Events& e = events_;
  const double tolerance = time_tolerance(now_.t, t1);
  const double sign_before = e.before[index];
  // Beyond the event, but not beyond where the function comes back.
  double beyond = kBeyond * (t1 - now_.t);
  const auto crossed = [&](double at) {
    return sign_of(event_on_dense(index, (at - now_.t) / (t1 - now_.t), t1)) != sign_before;
  };
  while (t_event + beyond < t1 && !crossed(t_event + beyond)) beyond *= 8;
  double high = std::min(t1, t_event + beyond), t_old = 0, g_old = 0;
  double least = std::numeric_limits<double>::infinity();
  low = now_.t;
  t = t_event;
  int failed = 0, in_vain = 0;  // in_vain: attempts since the function was nearest to zero
  for (int iteration = 0; iteration < 80; ++iteration) {
    if (t - now_.t <= tolerance) return Landing::at_start;
    if (!try_attempt(t, true)) {
      // Shorter steps are easier: the event is searched from the near side.
      if (low > now_.t && (++failed > kMostFailed || t - low <= tolerance)) return Landing::not_computed;
      t = 0.5 * (low + t);
      continue;
    }
    dynamics_.events(trial_, e.g_sample);
    const double g = e.g_sample[index];
    if (g == 0) break;
    const bool beyond_it = sign_of(g) != sign_before;
    (beyond_it ? high : low) = t;
    if (beyond_it) beyond = 0;  // the new sign was seen, at `high`
    if (beyond > 0 && t >= t1) return Landing::nowhere;
    in_vain = std::abs(g) < least ? 0 : in_vain + 1;
    least = std::min(least, std::abs(g));
    if (high - low <= tolerance || (in_vain > 1 && std::abs(t - t_old) <= kClose * (t1 - now_.t))) break;
    double slope;
    if (iteration == 0) {
      constexpr double kBack = 1e-3;
      slope = (g - event_on_dense(index, 1 - kBack, t)) / (kBack * (t - now_.t));
    } else {
      slope = (g - g_old) / (t - t_old);
    }
    double t_next = t - g / slope;
    if (std::abs(t_next - t) <= tolerance) break;
    const double farthest = beyond > 0 ? std::min(t1, std::max(high, t_event + kLater * (t1 - now_.t))) : high;
    const bool secant = t_next > low && t_next < farthest && (iteration <= kSecants || iteration % 2 == 0);
    // The repeated step is another one, and its event may lie later than on the dense output; or nowhere.
    if (secant) {
      for (; beyond > 0 && high <= t_next; high = std::min(t1, t_event + beyond)) beyond *= 8;
    } else if (beyond > 0 && t >= t_event + 0.4 * beyond) {
      beyond *= 8;
      t_next = high = std::min(t1, t_event + beyond);
    } else {
      t_next = 0.5 * (low + high);
    }
    if (std::abs(t_next - t) <= tolerance) break;
    t_old = t;
    g_old = g;
    t = t_next;
  }
  return Landing::landed;
}

bool Integrator::land_on_event(int index, double t_event, double t1) {
  Events& e = events_;
  for (int chain = 0; chain <= n_.ne; ++chain) {
    const double tolerance = time_tolerance(now_.t, t1);
    double t = t_event, low = now_.t;
    const Landing landing = approach_event(index, t_event, t1, t, low);
    if (landing == Landing::at_start && e.sign[index] != 0) {
      e.fired.clear();
      e.fired.push_back(index);
      return false;
    }
    if (landing != Landing::landed) {
      // A function that the step begins near zero may seem to vanish just after, by what the dense output is off: its
      // sign is the one it shows later. Another one is left to shorter steps.
      const bool at_begin = landing == Landing::nowhere && t_event - now_.t <= kJustAfter * (t1 - now_.t);
      if (at_begin) e.sign[index] = 0;
      // One that has just fired here belongs to the same moment if it fires again within the rounding of time: beyond
      // it is taken as it is.
      const bool same_moment = landing == Landing::at_start;
      if (same_moment) t1 = std::min(t1, now_.t + kMoment * tolerance);
      if (landing == Landing::not_computed) t1 = low;
      if (landing == Landing::nowhere && !at_begin) t1 = 0.5 * (now_.t + t_event);
      index = stop_without_event(t1, t_event);
      if (index < 0 || same_moment) return true;
      continue;
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
  report_.at_event = !e.fired.empty();
  return true;
}

}  // namespace clatter
