#!/usr/bin/python3
"""Benchmark problem G with Siconos: Moreau-Jean time stepping, Bullet's contacts, cones of friction by block Gauss-Seidel.

usage: spheres_siconos.py [number of balls, default 216] [CPU seconds, default 60] [tolerance of the solver, default 1e-4]

Data as in spheres_problem.hpp. The clock runs during the steps only; penetration is read off the positions after every
tenth step. Fewer steps than 2000 are the first ones: balls that fall touch little, so the rate of a part flatters it.
"""
import sys
import time

import numpy as np
import siconos.kernel as kernel
import siconos.numerics as numerics
from siconos.mechanics.collision import RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosSphere
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

RADIUS, DENSITY, FRICTION, GRAVITY, STEP, END, PITCH = 0.05, 2000, 0.5, 9.81, 1e-3, 2.0, 0.115
MASS = DENSITY * 4 / 3 * np.pi * RADIUS**3


def per_row(n):
    return 8 if n <= 1000 else 14


def starts(n):
    """Start positions from the generator of spheres_problem.hpp."""
    k, s = per_row(n), 12345

    def u():
        nonlocal s
        s = (s * 6364136223846793005 + 1442695040888963407) % 2**64
        return (s >> 11) / 9007199254740992.0 - 0.5

    for i in range(n):
        a, b, c = i % k, (i // k) % k, i // (k * k)
        yield (-0.5 * (k - 1) * PITCH + PITCH * a + 0.01 * u(), -0.5 * (k - 1) * PITCH + PITCH * b + 0.01 * u(),
               0.06 + PITCH * c + 0.004 * u())


def deepest(x, half):
    """Largest penetration among balls at the rows of x and into floor and walls."""
    walls = max(RADIUS - x[:, 2].min(), np.abs(x[:, :2]).max() + RADIUS - half)
    order = np.argsort(x[:, 2])
    x = x[order]
    last = np.searchsorted(x[:, 2], x[:, 2] + 2 * RADIUS)
    nearest = min((np.linalg.norm(x[i + 1:last[i]] - x[i], axis=1).min() for i in range(len(x)) if last[i] > i + 1),
                  default=2 * RADIUS)
    return max(0.0, walls, 2 * RADIUS - nearest)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 216
    budget = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-4
    half = 0.5 * (PITCH * per_row(n) + 0.03)

    system = kernel.NonSmoothDynamicalSystem(0, END + 1)
    inertia = np.eye(3) * 0.4 * MASS * RADIUS**2
    bodies = []
    for x in starts(n):
        body = RigidBodyDS([*x, 1, 0, 0, 0], [0] * 6, MASS, inertia)
        ball = SiconosContactorSet()
        ball.append(SiconosContactor(SiconosSphere(RADIUS)))
        body.setContactors(ball)
        body.setFExtPtr([0, 0, -MASS * GRAVITY])
        system.insertDynamicalSystem(body)
        bodies.append(body)

    # Scale and thresholds are Siconos' own; at another scale of the world balls sink through the floor.
    options = SiconosBulletOptions()
    options.perturbationIterations = 0
    options.minimumPointsPerturbationThreshold = 0
    collisions = SiconosBulletCollisionManager(options)
    collisions.insertNonSmoothLaw(kernel.NewtonImpactFrictionNSL(0, 0, FRICTION, 3), 0, 0)
    # Walls are boxes: through Siconos' planes balls pass when they are pressed.
    thick, wide, high = 1.0, 2 * half + 2.0, 20.0
    for size, place in (((wide, wide, thick), (0, 0, -0.5 * thick)),
                        ((thick, wide, high), (-half - 0.5 * thick, 0, 0)), ((thick, wide, high), (half + 0.5 * thick, 0, 0)),
                        ((wide, thick, high), (0, -half - 0.5 * thick, 0)), ((wide, thick, high), (0, half + 0.5 * thick, 0))):
        wall = SiconosContactorSet()
        wall.append(SiconosContactor(SiconosBox(size)))
        collisions.insertStaticContactorSet(wall, [*place, 1, 0, 0, 0])

    problem = kernel.FrictionContact(3, numerics.SICONOS_FRICTION_3D_NSGS)
    problem.numericsSolverOptions().iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 1000
    problem.numericsSolverOptions().dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    problem.setMaxSize(16384)
    problem.setMStorageType(1)  # sparse blocks
    problem.setNumericsVerboseMode(False)
    problem.setKeepLambdaAndYState(True)
    integrator = kernel.MoreauJeanOSI(0.5)
    integrator.setConstraintActivationThreshold(0.0)
    simulation = kernel.TimeStepping(system, kernel.TimeDiscretisation(0, STEP))
    simulation.insertInteractionManager(collisions)
    simulation.insertIntegrator(integrator)
    simulation.insertNonSmoothProblem(problem)
    simulation.setNewtonOptions(kernel.SICONOS_TS_LINEAR)
    simulation.setNewtonMaxIteration(1)

    cpu, depth, steps = 0.0, 0.0, 0
    while steps < round(END / STEP) and cpu < budget:
        begin = time.process_time()
        simulation.computeOneStep()
        simulation.nextStep()
        cpu += time.process_time() - begin
        steps += 1
        if steps % 10 == 0:
            depth = max(depth, deepest(np.array([body.q()[:3] for body in bodies]), half))
    depth = max(depth, deepest(np.array([body.q()[:3] for body in bodies]), half))
    kinetic = sum(body.computeKineticEnergy() for body in bodies)
    contacts = problem.getSizeOutput() // 3
    print(f'peer=Siconos problem=G configuration="Moreau-Jean, NSGS to {tolerance:g}" n={n} steps={steps} '
          f'steps_per_s={steps / cpu:.4g} penetration_percent={100 * depth / RADIUS:.3g} kinetic_J={kinetic:.3g} '
          f'contacts={contacts}', flush=True)


if __name__ == "__main__":
    main()
