// Benchmark problem G with ODE: QuickStep, 20 iterations (its default), hash space, pyramids of friction.
// Usage: spheres_ode [number of balls, default 1000] [iterations, default 20]
#include <ode/ode.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "spheres_problem.hpp"

namespace {

struct Scene {
  dWorldID world;
  dJointGroupID contacts;
  double deepest = 0;
  int count = 0;
};

void near(void* data, dGeomID a, dGeomID b) {
  Scene& scene = *static_cast<Scene*>(data);
  dContact contact[4];
  const int found = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
  for (int i = 0; i < found; ++i) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = spheres::kFriction;
    scene.deepest = std::max(scene.deepest, static_cast<double>(contact[i].geom.depth));
    ++scene.count;
    dJointAttach(dJointCreateContact(scene.world, scene.contacts, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 20;
  dInitODE2(0);
  Scene scene;
  scene.world = dWorldCreate();
  scene.contacts = dJointGroupCreate(0);
  const dSpaceID space = dHashSpaceCreate(nullptr);
  dHashSpaceSetLevels(space, -4, 0);
  dWorldSetGravity(scene.world, 0, 0, -spheres::kGravity);
  dWorldSetQuickStepNumIterations(scene.world, iterations);
  const double half = spheres::half_width(n);
  dCreatePlane(space, 0, 0, 1, 0);
  dCreatePlane(space, 1, 0, 0, -half);
  dCreatePlane(space, -1, 0, 0, -half);
  dCreatePlane(space, 0, 1, 0, -half);
  dCreatePlane(space, 0, -1, 0, -half);
  std::vector<dBodyID> bodies;
  spheres::Start start(n);
  for (int i = 0; i < n; ++i) {
    double x[3];
    start.next(x);
    const dBodyID body = dBodyCreate(scene.world);
    dMass mass;
    dMassSetSphere(&mass, spheres::kDensity, spheres::kRadius);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x[0], x[1], x[2]);
    dGeomSetBody(dCreateSphere(space, spheres::kRadius), body);
    bodies.push_back(body);
  }
  long steps = 0;
  const double begin = spheres::cpu_now();
  for (; steps < std::lround(spheres::kEnd / spheres::kStep); ++steps) {
    scene.count = 0;
    dSpaceCollide(space, &scene, &near);
    dWorldQuickStep(scene.world, spheres::kStep);
    dJointGroupEmpty(scene.contacts);
  }
  const double cpu = spheres::cpu_now() - begin;
  double kinetic = 0;
  for (const dBodyID body : bodies) {
    const dReal* v = dBodyGetLinearVel(body);
    const dReal* w = dBodyGetAngularVel(body);
    for (int k = 0; k < 3; ++k)
      kinetic += 0.5 * spheres::kMass * (v[k] * v[k] + 0.4 * spheres::kRadius * spheres::kRadius * w[k] * w[k]);
  }
  spheres::print("ODE", ("QuickStep, " + std::to_string(iterations) + " iterations").c_str(), n, steps, cpu,
                 scene.deepest, kinetic, scene.count);
}
