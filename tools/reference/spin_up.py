#!/usr/bin/env python3
"""Spin-up of a beam clamped to a hub: the textbook equation with the stiffening by centrifugal tension,

  M eta'' + (K + Omega(t)^2 (G - M)) eta = -Omega'(t) f,     u(s, t) = sum eta_k (s/L)^(k+2)
  M = int mu phi phi, K = int EI phi'' phi'', G = int mu (L^2 - s^2)/2 phi' phi', f = int mu s phi

Omega = Omega_s/T (t - T/(2 pi) sin(2 pi t/T)) up to T = 15 s, then 6 rad/s; classical Runge-Kutta. Prints the first
frequency, the largest deflection of the tip and when, and the vibration after the spin-up, for the beam of Simo and
Vu-Quoc (10 m) and for Kane's (8 m). Without G the deflection of both grows without bound.
"""
from math import cos, pi, sin, sqrt


def solve(A, b):
    n = len(b)
    A = [row[:] + [x] for row, x in zip(A, b)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(A[i][k]))
        A[k], A[p] = A[p], A[k]
        for i in range(k + 1, n):
            f = A[i][k] / A[k][k]
            A[i] = [x - f * y for x, y in zip(A[i], A[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (A[k][n] - sum(A[k][j] * x[j] for j in range(k + 1, n))) / A[k][k]
    return x


def spin_up(mu, EI, L, stiffening=True, n=4, T=15.0, Omega_s=6.0, end=20.0, h=0.004):
    p = range(2, n + 2)
    M = [[mu * L / (a + b + 1) for b in p] for a in p]
    K = [[EI / L**3 * a * (a - 1) * b * (b - 1) / (a + b - 3) for b in p] for a in p]
    G = [[0.5 * mu * L * a * b * (1 / (a + b - 1) - 1 / (a + b + 1)) * stiffening for b in p] for a in p]
    f = [mu * L * L / (a + 2) for a in p]
    inverse = [solve(M, [float(i == j) for i in range(n)]) for j in range(n)]  # columns = rows
    times = lambda A, x: [sum(a * b for a, b in zip(row, x)) for row in A]

    def acceleration(t, eta):
        w = Omega_s / T * (t - T / (2 * pi) * sin(2 * pi * t / T)) if t < T else Omega_s
        a = Omega_s / T * (1 - cos(2 * pi * t / T)) if t < T else 0.0
        rhs = [-a * f[i] - sum((K[i][j] + w * w * (G[i][j] - M[i][j])) * eta[j] for j in range(n)) for i in range(n)]
        return times(inverse, rhs)

    add = lambda x, *terms: [v + sum(c * y[i] for c, y in terms) for i, v in enumerate(x)]
    eta, rate, tip = [0.0] * n, [0.0] * n, []
    for i in range(round(end / h)):
        t = i * h
        a1 = acceleration(t, eta)
        a2 = acceleration(t + h / 2, add(eta, (h / 2, rate)))
        a3 = acceleration(t + h / 2, add(eta, (h / 2, rate), (h * h / 4, a1)))
        a4 = acceleration(t + h, add(eta, (h, rate), (h * h / 2, a2)))
        eta = add(eta, (h, rate), (h * h / 6, a1), (h * h / 6, a2), (h * h / 6, a3))
        rate = add(rate, (h / 6, a1), (h / 3, a2), (h / 3, a3), (h / 6, a4))
        tip.append((sum(eta), t + h))
    return tip


def report(name, mu, EI, L):
    tip = spin_up(mu, EI, L)
    low = min(tip)
    late = [x for x, t in tip if t > 15]
    print(f"{name}: first frequency {3.5160152685 * sqrt(EI / mu) / L**2:.4f} rad/s, largest deflection {low[0]:.5f} m at "
          f"{low[1]:.2f} s, later within {min(late):.5f} .. {max(late):.5f} m")
    print("   every 2 s:", *[f"{x:.5f}" for x, t in tip if abs(t / 2 - round(t / 2)) < 1e-9])


if __name__ == "__main__":
    report("Simo and Vu-Quoc", 1.2, 1.4e4, 10.0)
    report("Kane", 2766 * 7.3e-5, 6.895e10 * 8.218e-9, 8.0)
