// Benchmark problem G with Bullet: sequential impulses, 10 iterations (its default), no substeps, nobody sleeps.
// Usage: spheres_bullet [number of balls, default 1000] [iterations, default 10]
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "spheres_problem.hpp"

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 10;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad, &solver, &configuration);
  world.setGravity(btVector3(0, 0, static_cast<btScalar>(-spheres::kGravity)));
  world.getSolverInfo().m_numIterations = iterations;
  const auto half = static_cast<btScalar>(spheres::half_width(n));
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  // Bullet combines friction as a product: 1 for the walls.
  const auto add = [&](btScalar mass, std::unique_ptr<btCollisionShape> shape, const btVector3& at, double friction) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape.get(), inertia);
    info.m_startWorldTransform.setOrigin(at);
    info.m_friction = static_cast<btScalar>(friction);
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
    shapes.push_back(std::move(shape));
  };
  const double root = std::sqrt(spheres::kFriction);
  const btVector3 normals[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int k = 0; k < 5; ++k)
    add(0, std::make_unique<btStaticPlaneShape>(normals[k], k == 0 ? 0 : -half), btVector3(0, 0, 0), root);
  spheres::Start start(n);
  for (int i = 0; i < n; ++i) {
    double x[3];
    start.next(x);
    add(static_cast<btScalar>(spheres::kMass), std::make_unique<btSphereShape>(static_cast<btScalar>(spheres::kRadius)),
        btVector3(static_cast<btScalar>(x[0]), static_cast<btScalar>(x[1]), static_cast<btScalar>(x[2])), root);
  }
  double deepest = 0;
  int count = 0;
  long steps = 0;
  const double begin = spheres::cpu_now();
  for (; steps < std::lround(spheres::kEnd / spheres::kStep); ++steps) {
    world.stepSimulation(static_cast<btScalar>(spheres::kStep), 0);
    count = 0;
    for (int m = 0; m < dispatcher.getNumManifolds(); ++m) {
      const btPersistentManifold& manifold = *dispatcher.getManifoldByIndexInternal(m);
      for (int p = 0; p < manifold.getNumContacts(); ++p) {
        const double distance = manifold.getContactPoint(p).getDistance();
        deepest = std::max(deepest, -distance);
        if (distance < 0) ++count;
      }
    }
  }
  const double cpu = spheres::cpu_now() - begin;
  double kinetic = 0;
  for (const auto& body : bodies)
    if (body->getMass() > 0)
      kinetic += 0.5 * spheres::kMass *
                 (body->getLinearVelocity().length2() +
                  0.4 * spheres::kRadius * spheres::kRadius * body->getAngularVelocity().length2());
  spheres::print("Bullet", (std::to_string(iterations) + " iterations").c_str(), n, steps, cpu, deepest, kinetic,
                 count);
  for (const auto& body : bodies) world.removeRigidBody(body.get());
}
