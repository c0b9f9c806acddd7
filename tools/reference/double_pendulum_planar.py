"""Planar double pendulum of two slender rods.

Two uniform rods, each l = 1 m, m = 1 kg, inertia m l^2/12 about the centre, hinged at the origin and to each
other (axes z). Both start along +x at rest, gravity g = 9.81 along -y. Unknowns: absolute angles th1, th2
against +x. The equations are derived by sympy from T and V of Lagrange; a second set, Newton-Euler with
the two joint forces as unknowns, is integrated by the other method.
"""
import numpy as np
import sympy as sp
from refode import L, LD, agreement, dop853, gbs, show, solve

m, l, g = L(1), L(1), L("9.81")


def lagrange():
    t, M, l_, g_ = sp.symbols("t m l g")
    th = [sp.Function("a")(t), sp.Function("b")(t)]
    r1 = sp.Matrix([sp.cos(th[0]), sp.sin(th[0])]) * l_ / 2
    r2 = 2 * r1 + sp.Matrix([sp.cos(th[1]), sp.sin(th[1])]) * l_ / 2
    J = M * l_**2 / 12
    T = sum(M * r.diff(t).dot(r.diff(t)) / 2 + J * a.diff(t) ** 2 / 2 for r, a in zip([r1, r2], th))
    V = M * g_ * (r1[1] + r2[1])
    lag = T - V
    eqs = [sp.expand(lag.diff(a.diff(t)).diff(t) - lag.diff(a)) for a in th]
    acc, vel, pos = sp.symbols("p q"), sp.symbols("u v"), sp.symbols("x y")
    names = [(th[i].diff(t, 2), acc[i]) for i in range(2)] + [(th[i].diff(t), vel[i]) for i in range(2)] + [
        (th[i], pos[i]) for i in range(2)]
    eqs = [e.subs(names) for e in eqs]
    mass = sp.Matrix(eqs).jacobian(acc)
    bias = sp.Matrix(eqs).subs({acc[0]: 0, acc[1]: 0})
    energy = (T + V).subs(names)
    args = (*pos, *vel, M, l_, g_)
    return [sp.lambdify(args, e, "numpy") for e in (mass, bias, energy)]


mass, bias, total_energy = lagrange()


def rhs(t, y):
    A = np.array(mass(*y, m, l, g))
    return np.concatenate([y[2:], solve(A, -np.array(bias(*y, m, l, g)).ravel())])


def rhs_newton(t, y):
    """Unknowns x1'', y1'', th1'', x2'', y2'', th2'', forces F on rod 1 at the origin, P on rod 2 at the joint."""
    A, b = np.zeros((10, 10)), np.zeros(10)
    h = 0.5
    u = [(np.cos(a) * h, np.sin(a) * h) for a in y[:2]]
    mm, gg = float(m), float(g)
    F, P = 6, 8
    for i in range(2):
        A[3*i, 3*i] = A[3*i+1, 3*i+1] = mm
        A[3*i+2, 3*i+2] = mm / 12
        b[3*i+1] = -mm * gg
    (c1, s1), (c2, s2) = u
    A[0, F] = A[1, F+1] = -1
    A[0, P] = A[1, P+1] = 1
    A[3, P] = A[4, P+1] = -1
    A[2, F], A[2, F+1], A[2, P], A[2, P+1] = -s1, c1, -s1, c1  # moments about the centre of rod 1
    A[5, P], A[5, P+1] = -s2, c2
    A[6, 0], A[6, 2], b[6] = 1, s1, -c1 * y[2] ** 2            # acceleration of the pivot of rod 1 is zero
    A[7, 1], A[7, 2], b[7] = 1, -c1, -s1 * y[2] ** 2
    A[8, 0], A[8, 2], A[8, 3], A[8, 5] = 1, -s1, -1, -s2       # the joint point of both rods moves alike
    b[8] = c1 * y[2] ** 2 + c2 * y[3] ** 2
    A[9, 1], A[9, 2], A[9, 4], A[9, 5] = 1, c1, -1, c2
    b[9] = s1 * y[2] ** 2 + s2 * y[3] ** 2
    acc = np.linalg.solve(A, b)
    return np.array([y[2], y[3], acc[2], acc[5]])


def tip(y):
    return l * np.array([np.cos(y[0]) + np.cos(y[1]), np.sin(y[0]) + np.sin(y[1])])


if __name__ == "__main__":
    times = [LD(1) / 2, 1, 2]
    y0 = np.zeros(4, dtype=LD)
    ref = gbs(rhs, y0, times, H=LD(1) / 100)
    print("energy is 0 for all time; drift at 2 s:", float(total_energy(*ref[-1], m, l, g)))
    for t, y in zip(times, ref):
        show(f"t = {float(t)}: tip x, y [m]", tip(y))
        show("          absolute angles [rad]", y[:2])
        show("          angular velocities [rad/s]", y[2:])
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 200)))
    print("Newton-Euler with DOP853 differs by", agreement(ref, dop853(rhs_newton, y0, times)))
