#!/usr/bin/env python3
"""Pendulum and slider-crank with a flexible rod: floating frame in mean axes, bending in the plane only.

The rod (length L, mass m, bending stiffness EI, Euler-Bernoulli) is free: its frame (x, y, theta) sits in the mean axes,
eta_k are the amplitudes of the free-free bending modes phi_k, scaled to int rho A phi_k^2 = 1. With modes along one
direction and mean axes nothing couples but

  m (x, y)'' = F,   (J + |eta|^2) theta'' = T - 2 theta' eta.eta',   eta_k'' + (omega_k^2 - theta'^2) eta_k = f_k

(E-6, E-10 in the plane). Joints are rows at the ends, solved with the accelerations; classical Runge-Kutta. The rod does
not stretch here; in the models it does, by less than 1e-6 m in the pendulum and by up to 2 m_slider r w^2 L/(E A) = 1.2e-5 m
in the slider-crank.

Prints the numbers checked by models/flexible/pendulum.yaml and models/flexible/slider_crank.yaml, for two numbers of
modes and two steps: what they differ by is the error of the numbers.
"""
import numpy as np
from math import cos, cosh, pi, sin, sinh, sqrt


def free_free(n):
    """beta_k L of cos b cosh b = 1."""
    out = []
    for k in range(1, n + 1):
        b = (k + 0.5) * pi
        for _ in range(50):
            b -= (cos(b) - 1 / cosh(b)) / (-sin(b) + sinh(b) / cosh(b) ** 2)
        out.append(b)
    return out


def shape(b, x):
    """Mode with int_0^1 phi^2 = 1 and phi(0) = 2, without the difference of large numbers."""
    # cosh bx + cos bx - s (sinh bx + sin bx), s = (cosh b - cos b)/(sinh b - sin b)
    d = (cos(b) - sin(b) - np.exp(-b)) / (sinh(b) - sin(b))  # 1 - s
    return 0.5 * d * np.exp(b * x) + (1 - 0.5 * d) * np.exp(-b * x) + cos(b * x) - (1 - d) * sin(b * x)


class Rod:
    def __init__(self, L, width, height, E, rho, n):
        self.L, self.m = L, rho * width * height * L
        self.J = self.m * L * L / 12
        b = free_free(n)
        c = sqrt(E * height**2 / 12 / rho) / L**2
        self.w2 = np.array([(x * x * c) ** 2 for x in b])
        self.n = n
        self.b = b

    def phi(self, x):
        return np.array([shape(b, x) for b in self.b]) / sqrt(self.m)


def solve(M, h, G, gamma):
    n, r = len(h), len(gamma)
    A = np.zeros((n + r, n + r))
    A[:n, :n] = M
    A[:n, n:] = -G.T
    A[n:, :n] = G
    return np.linalg.solve(A, np.concatenate([h, gamma]))[:n]


def end(rod, q, v, X, phi):
    """Position, Jacobian and bias acceleration of the point at X (from the centre) that moves with phi."""
    th, w = q[2], v[2]
    e1, e2 = np.array([cos(th), sin(th)]), np.array([-sin(th), cos(th)])
    u, ud = phi @ q[3:3 + rod.n], phi @ v[3:3 + rod.n]
    p = q[:2] + X * e1 + u * e2
    J = np.zeros((2, len(q)))
    J[:, :2] = np.eye(2)
    J[:, 2] = X * e2 - u * e1
    J[:, 3:3 + rod.n] = np.outer(e2, phi)
    bias = -w * w * (X * e1 + u * e2) - 2 * w * ud * e1
    return p, J, bias


def rod_terms(rod, q, v, M, h, gravity):
    eta, etad, w = q[3:3 + rod.n], v[3:3 + rod.n], v[2]
    M[0, 0] = M[1, 1] = rod.m
    M[2, 2] = rod.J + eta @ eta
    h[:2] = rod.m * gravity
    h[2] = -2 * w * (eta @ etad)
    for k in range(rod.n):
        M[3 + k, 3 + k] = 1
        h[3 + k] = -(rod.w2[k] - w * w) * eta[k]


def rk4(f, q, v, end_time, steps, marks):
    dt, out = end_time / steps, {}
    for i in range(steps + 1):
        t = i * dt
        for mark in marks:
            if abs(t - mark) < dt / 2:
                out[mark] = q.copy(), v.copy()
        a1 = f(t, q, v)
        a2 = f(t + dt / 2, q + dt / 2 * v, v + dt / 2 * a1)
        a3 = f(t + dt / 2, q + dt / 2 * v + dt * dt / 4 * a1, v + dt / 2 * a2)
        a4 = f(t + dt, q + dt * v + dt * dt / 2 * a2, v + dt * a3)
        q = q + dt * v + dt * dt / 6 * (a1 + a2 + a3)
        v = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return out


def pendulum(n, steps):
    """Aluminium, 1 m x 20 mm x 2 mm, let go horizontally; hinge at the left end."""
    rod = Rod(1.0, 0.02, 0.002, 70e9, 2700.0, n)
    g = np.array([0, -9.81])
    p0, p1, pm = rod.phi(0), rod.phi(1), rod.phi(0.5)

    def f(t, q, v):
        M, h = np.zeros((len(q), len(q))), np.zeros(len(q))
        rod_terms(rod, q, v, M, h, g)
        _, J, bias = end(rod, q, v, -0.5, p0)
        return solve(M, h, J, -bias)

    q = np.zeros(3 + n)
    q[0] = 0.5
    marks = (0.1, 0.25, 0.4, 0.5)
    for t, (q, v) in rk4(f, q, np.zeros(3 + n), 0.5, steps, marks).items():
        tip, mid = end(rod, q, v, 0.5, p1)[0], end(rod, q, v, 0.0, pm)[0]
        print(f"pendulum n={n:2d} t={t}: tip {tip[0]:.8f} {tip[1]:.8f} middle {mid[0]:.8f} {mid[1]:.8f} deflection {p1 @ q[3:] :.6f}")


def slider_crank(n, steps):
    """Crank 0.15 m at 30 rad/s, rod of aluminium 0.5 m x 20 mm x 4 mm, slider 0.5 kg; starts as a rigid one would move."""
    rod = Rod(0.5, 0.02, 0.004, 70e9, 2700.0, n)
    r, w0, ms = 0.15, 30.0, 0.5
    p0, p1, pm = rod.phi(0), rod.phi(1), rod.phi(0.5)
    N = 4 + n

    def f(t, q, v):
        M, h = np.zeros((N, N)), np.zeros(N)
        rod_terms(rod, q, v, M, h, np.zeros(2))
        M[-1, -1] = ms
        _, J0, b0 = end(rod, q, v, -0.25, p0)
        _, J1, b1 = end(rod, q, v, 0.25, p1)
        G = np.vstack([J0, J1])
        G[2, -1] -= 1
        crank = -w0 * w0 * r * np.array([cos(w0 * t), sin(w0 * t)])
        return solve(M, h, G, np.concatenate([crank - b0, -b1]))

    q, v = np.zeros(N), np.zeros(N)
    q[0], q[-1] = r + 0.25, r + 0.5
    v[1], v[2] = r * w0 / 2, -r * w0 / 0.5
    marks = (0.05, 0.1, 0.15, 0.2)
    for t, (q, v) in rk4(f, q, v, 0.2, steps, marks).items():
        mid = end(rod, q, v, 0.0, pm)[0]
        print(f"slider-crank n={n:2d} t={t}: slider {q[-1]:.8f} middle {mid[0]:.8f} {mid[1]:.8f} bend {(pm - (p0 + p1)/2) @ q[3:-1]:.6f}")


if __name__ == "__main__":
    for n, steps in ((14, 10000), (20, 20000)):
        pendulum(n, steps)
    for n, steps in ((12, 8000), (18, 16000)):
        slider_crank(n, steps)
