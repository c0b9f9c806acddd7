// Benchmark problem C with Simbody: CPU seconds for 10 s of Runge-Kutta-Merson and CPodes (BDF) at accuracy 1e-6, tip
// error at 2 s, energy error, and the time of one forward-dynamics evaluation (realize to the acceleration stage).
// Usage: chain_simbody [CPU seconds allowed per run, default 20]. A run that does not finish says how far it came.
#include "chain_problem.hpp"

#include <Simbody.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using SimTK::Vec3;

constexpr double kAccuracy = 1e-6;

struct Chain {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  SimTK::Force::UniformGravity gravity{forces, matter, Vec3(0, -chain::kGravity, 0)};
  SimTK::MobilizedBodyIndex last{0};
  SimTK::State start;

  explicit Chain(int n) {
    const Vec3 centre(chain::kLength / 2, 0, 0);
    const SimTK::Inertia central(chain::kInertiaAxial, chain::kInertiaTransverse, chain::kInertiaTransverse);
    const SimTK::Body::Rigid link(
        SimTK::MassProperties(chain::kMass, centre, central.shiftFromMassCenter(centre, chain::kMass)));
    for (int i = 0; i < n; ++i) {
      const Vec3 on_parent(i == 0 ? 0.0 : chain::kLength, 0, 0);
      last = SimTK::MobilizedBody::Pin(matter.updMobilizedBody(last), SimTK::Transform(on_parent), link,
                                       SimTK::Transform())
                 .getMobilizedBodyIndex();
    }
    start = system.realizeTopology();
    system.realizeModel(start);
  }

  chain::Point tip(const SimTK::State& s) const {
    system.realize(s, SimTK::Stage::Position);
    const Vec3 p = matter.getMobilizedBody(last).findStationLocationInGround(s, Vec3(chain::kLength, 0, 0));
    return {p[0], p[1]};
  }

  double energy(const SimTK::State& s) const {
    system.realize(s, SimTK::Stage::Dynamics);
    return system.calcEnergy(s);
  }
};

std::unique_ptr<SimTK::Integrator> make_integrator(const std::string& name, const SimTK::System& system) {
  std::unique_ptr<SimTK::Integrator> integrator;
  if (name == "RKM") {
    integrator = std::make_unique<SimTK::RungeKuttaMersonIntegrator>(system);
  } else {
    integrator = std::make_unique<SimTK::CPodesIntegrator>(system, SimTK::CPodes::BDF);
  }
  integrator->setAccuracy(kAccuracy);
  return integrator;
}

chain::Result run(int n, const std::string& name, double budget) {
  const Chain chain_model(n);
  const SimTK::System& system = chain_model.system;
  chain::Result result;
  const double energy_at_start = chain_model.energy(chain_model.start);
  {
    auto integrator = make_integrator(name, system);
    integrator->setReturnEveryInternalStep(true);
    integrator->initialize(chain_model.start);
    const double start = chain::cpu_seconds();
    for (const double until : {chain::kCheckTime, chain::kEnd}) {
      while (integrator->getTime() < until && chain::cpu_seconds() - start < budget) {
        integrator->stepTo(until, until);
        result.energy_error =
            std::max(result.energy_error, std::abs(chain_model.energy(integrator->getState()) - energy_at_start));
      }
      if (until == chain::kCheckTime && integrator->getTime() >= until) {
        result.tip_error = chain::tip_error(n, chain_model.tip(integrator->getState()));
        result.energy_error_2s = result.energy_error;
      }
    }
  }
  for (int repeat = 0; repeat < 3; ++repeat) {  // timed: one call per tenth of a second of model time
    auto integrator = make_integrator(name, system);
    integrator->initialize(chain_model.start);
    const double start = chain::cpu_seconds();
    for (int i = 1; i <= 100 && chain::cpu_seconds() - start < budget / 3; ++i) integrator->stepTo(0.1 * i);
    const double cpu = chain::cpu_seconds() - start;
    const double simulated = integrator->getTime();
    if (repeat == 0 || cpu / simulated < result.cpu / result.simulated) {
      result.cpu = cpu;
      result.simulated = simulated;
      result.steps = integrator->getNumStepsTaken();
    }
  }
  return result;
}

double forward_dynamics(int n) {
  const Chain chain_model(n);
  SimTK::State state = chain_model.start;
  for (int i = 0; i < n; ++i) {
    state.updQ()[i] = 0.1 * std::sin(1.0 + i);
    state.updU()[i] = 0.1 * std::cos(2.0 + i);
  }
  return chain::time_per_call([&](long i) {
    state.updQ()[0] = 1e-3 * static_cast<double>(i % 7);  // invalidates everything from the position stage on
    chain_model.system.realize(state, SimTK::Stage::Acceleration);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 20.0;
  try {
    for (const int n : chain::kSizes) {
      chain::print("Simbody", "RKM accuracy 1e-6", n, run(n, "RKM", budget));
      chain::print("Simbody", "CPodes BDF accuracy 1e-6", n, run(n, "CPodes", budget));
    }
    for (const int n : chain::kSizes)
      chain::print_evaluation("Simbody", "realize acceleration", n, forward_dynamics(n));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
