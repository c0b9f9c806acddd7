// What every contact law of laws/laws.hpp owes, one test a law: a law that is added to the list is looked at here (and,
// with whole models, by the conformance suites of the registry) without another line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compliant_models.hpp"
#include "engine/registry.hpp"
#include "model/expression.hpp"

namespace clatter::laws {

inline void PrintTo(const LawRow& row, std::ostream* out) { *out << row.name(); }

}  // namespace clatter::laws

namespace clatter::contact {
namespace {

constexpr double kTouch = 0.5;  // speed of approach that the contact remembers

class EveryLaw : public ::testing::TestWithParam<laws::LawRow> {
 protected:
  static CompliantContact law() {
    CompliantContact law;
    law.normal = laws::with_sample(GetParam());
    law.friction.mu = 0.3;
    law.friction_velocity = 0.2;
    return law;
  }
  static CompliantPhase phase(Closure closure = Closure::unknown) { return {closure, hysteresis(law(), kTouch)}; }
};

// A place (gap, rate, surface, slips) and what the law says there.
struct At {
  double x[5];
};
using D = Dual<5>;
struct Answer {
  D r[3], stored, loss;
};

Answer ask(const CompliantContact& law, const CompliantPhase& phase, const At& at) {
  D x[5];
  for (int i = 0; i < 5; ++i) x[i] = D::variable(at.x[i], i);
  const NormalLaw<D> n = normal_law<D>(law, phase, x[0], x[1], x[2]);
  Answer a{{}, n.stored, n.loss};
  a.loss = a.loss + friction_law<D>(law, 2, n.force, x[3], x[4], a.r);
  return a;
}

std::vector<At> places(int count) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<At> out(static_cast<std::size_t>(count));
  for (At& at : out)
    for (double& x : at.x) x = any(random);
  return out;
}

constexpr Closure kClosures[] = {Closure::unknown, Closure::open, Closure::closed};

TEST_P(EveryLaw, HasTheSlopesOfItsValues) {
  // Central differences of fourth order with h = 1e-4: good to 1e-10 where no branch lies between; places nearer than
  // that to one are left out, which shows as a jump of the slopes themselves.
  const double h = 1e-4;
  const CompliantContact c = law();
  int compared = 0;
  for (const Closure closure : kClosures)
    for (const At& at : places(200)) {
      const CompliantPhase p = phase(closure);
      const Answer here = ask(c, p, at);
      const auto shifted = [&](int i, double by) {
        At to = at;
        to.x[i] += by;
        return ask(c, p, to);
      };
      const auto near_branch = [&](int i) {
        const Answer a = shifted(i, -2 * h), b = shifted(i, 2 * h);
        for (int k = 0; k < 3; ++k)
          if ((a.r[k].d - b.r[k].d).abs().maxCoeff() > 0.02 * (1 + a.r[k].d.abs().maxCoeff())) return true;
        return (a.loss.d - b.loss.d).abs().maxCoeff() > 0.02 * (1 + a.loss.d.abs().maxCoeff());
      };
      for (int i = 0; i < 5; ++i) {
        if (near_branch(i)) continue;
        ++compared;
        const Answer p1 = shifted(i, h), m1 = shifted(i, -h), p2 = shifted(i, 2 * h), m2 = shifted(i, -2 * h);
        const auto expect = [&](auto&& part, const char* what) {
          const double slope = (8 * (part(p1).v - part(m1).v) - (part(p2).v - part(m2).v)) / (12 * h);
          EXPECT_NEAR(part(here).d[i], slope, 1e-7 * (1 + std::abs(slope))) << what << " by variable " << i;
        };
        for (int k = 0; k < 3; ++k) expect([k](const Answer& a) { return a.r[k]; }, "force");
        expect([](const Answer& a) { return a.stored; }, "energy");
        expect([](const Answer& a) { return a.loss; }, "loss");
      }
    }
  EXPECT_GT(compared, 2000);
}

TEST_P(EveryLaw, GivesBackWhatItTakesButForWhatItLoses) {
  // F dg/dt + r . s = -dE/dt + P, P <= 0, by the law's own slopes: rounding only. All branches must have been met.
  const CompliantContact c = law();
  int pressing = 0, idle = 0;
  for (const Closure closure : kClosures)
    for (const At& at : places(400)) {
      const auto [g, rate, surface, s1, s2] = at.x;
      const CompliantPhase p = phase(closure);
      const Answer a = ask(c, p, at);
      const double stored_rate = a.stored.d[0] * rate + a.stored.d[2] * surface_rate(c, p, g, rate, surface);
      const double supplied = a.r[0].v * rate + a.r[1].v * s1 + a.r[2].v * s2;
      EXPECT_NEAR(supplied, -stored_rate + a.loss.v, 1e-12);
      EXPECT_LE(a.loss.v, 1e-13);
      EXPECT_GE(a.stored.v, 0);
      (a.r[0].v > 0 ? pressing : idle) += 1;
    }
  EXPECT_GT(pressing, 100);
  EXPECT_GT(idle, 100);
}

TEST_P(EveryLaw, BeginsAtZeroUnlessItSaysThatItJumps) {
  const CompliantContact c = law();
  const auto force = [&](double gap) { return normal_law<double>(c, phase(), gap, -1.0, 0.0).force; };
  const double first = std::abs(force(-1e-10)) / force(-0.1);
  if (GetParam().jumps) {
    EXPECT_GT(first, 1e-3);
  } else {
    EXPECT_LT(first, 1e-6);
  }
}

TEST_P(EveryLaw, PullsExactlyWhereItSaysThatItMay) {
  const CompliantContact c = law();
  bool pulled = false;
  for (const Closure closure : kClosures)
    for (const At& at : places(400)) {
      // Leaving fast from little depth is where a damper would pull.
      const double force = normal_law<double>(c, phase(closure), 0.1 * at.x[0], 20 * at.x[1], 0.1 * at.x[2]).force;
      pulled = pulled || force < 0;
    }
  EXPECT_EQ(pulled, GetParam().pulls);
}

TEST_P(EveryLaw, HasAnIndicatorThatIsPositiveExactlyWhereItPushes) {
  // Without memory; where it may pull until the gap opens: exactly where it acts. A surface is where nobody touched it.
  const CompliantContact c = law();
  int positive = 0, negative = 0;
  for (const double fast : {1.0, 20.0})
    for (const At& at : places(500)) {
      const double gap = 0.3 * at.x[0], rate = fast * at.x[1];
      const CompliantPhase p = phase(GetParam().has_surface ? Closure::closed : Closure::unknown);
      const double force = normal_law<double>(c, p, gap, rate, 0.0).force;
      const bool acts = GetParam().pulls && !GetParam().has_surface ? force != 0 : force > 0;
      const double shown = indicator(c, p, 0.7, gap, rate);
      EXPECT_EQ(shown > 0, acts) << gap << " " << rate;
      (shown > 0 ? positive : negative) += 1;
    }
  EXPECT_GT(positive, 100);
  EXPECT_GT(negative, 100);
}

TEST_P(EveryLaw, ActsBeforeTouchOnlyAsFarAsItSays) {
  const CompliantContact c = law();
  for (const double speed : {0.1, 1.0, 30.0}) {
    const double reach = reach_before_touch(c, speed);
    EXPECT_EQ(reach > 0, GetParam().before_touch);
    const auto force = [&](double gap) { return normal_law<double>(c, phase(), gap, -speed, 0.0).force; };
    EXPECT_EQ(force(reach * (1 + 1e-9) + 1e-12), 0);
    if (reach > 0) {
      EXPECT_GT(force(reach * (1 - 1e-9)), 0);
    }
  }
}

TEST_P(EveryLaw, DependsOnTheSpeedOfTheTouchOnlyIfItRemembersIt) {
  const CompliantContact c = law();
  EXPECT_GE(hysteresis(c, 1), 0);
  EXPECT_EQ(hysteresis(c, 1) != hysteresis(c, 3), remembers(c));
  if (remembers(c)) {
    EXPECT_GT(hysteresis(c, 1), hysteresis(c, 3)) << "slower touches are damped more";
  }
}

TEST_P(EveryLaw, BouncesWithAClosedLedgerAndNoGain) {
  // Step control at 1e-12 of a motion of 1 m/s; powers of the penetration have no third derivative at touch.
  const CompliantContact c = law();
  Machine m(table(c, 1));
  ASSERT_EQ(m.next(10), 1);
  EXPECT_NEAR(m.remainder(), 0, 1e-9);
  EXPECT_GT(m.state().v[1], 0);
  EXPECT_LE(m.state().v[1], 1 + 1e-9);
}

TEST_P(EveryLaw, SavesAndRestoresWhatItRemembers) {
  const CompliantContact c = law();
  Machine m(table(c, 2));
  m.next(0.05);
  ASSERT_GT(m.dynamics.compliant().force(0)[0], 0);
  Vec memory(100);
  Archive writer = Archive::writer({memory.data(), 100});
  m.dynamics.compliant().exchange(writer);
  const double before = m.dynamics.compliant().force(0)[0];
  Machine fresh(table(c, 0.1));
  const auto there = [&] {
    fresh.dynamics.accelerations(m.state(), fresh.a, fresh.lambda, fresh.zdot);
    return fresh.dynamics.compliant().force(0)[0];
  };
  if (remembers(c)) {
    EXPECT_NE(there(), before) << "touched at another speed";
  }
  Archive reader = Archive::reader({memory.data(), 100});
  fresh.dynamics.compliant().exchange(reader);
  EXPECT_EQ(there(), before);
}

TEST_P(EveryLaw, IsReadFromAModelWithTheParametersItsTableNames) {
  const laws::LawRow& row = GetParam();
  std::string name = std::string("contact_") + row.name() + "_planar";
  std::replace(name.begin(), name.end(), '-', '_');
  const std::vector<Registered> samples = registered_contact_laws();
  const auto sample = std::find_if(samples.begin(), samples.end(), [&](const Registered& r) { return r.name == name; });
  ASSERT_NE(sample, samples.end());
  const Model model = load_model_text(sample->sample, name);
  const laws::LawValue read = std::get<CompliantContact>(model.contacts[0].law).normal;
  EXPECT_EQ(read.kind, row.kind);
  int chosen = 0;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const laws::Parameter& p = row.parameters[i];
    const bool other = p.choice != 0 && p.choice == chosen;  // excluded by what was chosen
    chosen = p.choice != 0 ? p.choice : chosen;
    EXPECT_EQ(read.parameter[i], p.in_language && !other ? row.sample[i] : p.otherwise) << p.key;
  }
}

TEST_P(EveryLaw, RefusesParametersOutOfTheirBounds) {
  const laws::LawRow& row = GetParam();
  EXPECT_EQ(laws::first_wrong(laws::with_sample(row)), nullptr);
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    EXPECT_STRNE(row.parameters[i].key, "");
    EXPECT_TRUE(!row.parameters[i].in_language || row.parameters[i].text[0] != 0);
    laws::LawValue wrong = laws::with_sample(row);
    wrong.parameter[i] = -1;
    EXPECT_EQ(laws::first_wrong(wrong), &row.parameters[i]);
    CompliantContact c = law();
    c.normal = wrong;
    EXPECT_THROW(Machine m(table(c)), InputError);
  }
}

std::string law_name(const ::testing::TestParamInfo<laws::LawRow>& law) {
  std::string name = law.param.name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, ::testing::ValuesIn(laws::table().begin(), laws::table().end()), law_name);

}  // namespace
}  // namespace clatter::contact
