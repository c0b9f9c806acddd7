#!/usr/bin/env python3
"""Tip of a horizontal cantilever that is let go from rest, undeformed, under gravity (Euler-Bernoulli, no rotatory
inertia): w(L, t) = -sum_n g gamma_n phi_n(L)/omega_n^2 (1 - cos omega_n t) with phi_n the clamped-free modes,
gamma_n = int phi_n / int phi_n^2, omega_n = beta_n^2 sqrt(E I/(rho A))/L^2, cos beta cosh beta = -1.

Prints static deflection rho A g L^4/(8 E I), frequencies and the tip at the times checked by
models/flexible/cantilever_release.yaml.
"""
from math import cos, cosh, pi, sin, sinh, sqrt

E, RHO, A, L, G = 210e9, 7800.0, 0.01, 1.0, 9.81  # square section A x A


def beta(n):
    b = (n + 0.5) * pi
    for _ in range(100):
        step = (cos(b) * cosh(b) + 1) / (-sin(b) * cosh(b) + cos(b) * sinh(b))
        b -= step
    return b


def mode(b, x):
    s = (cosh(b) + cos(b)) / (sinh(b) + sin(b))
    return cosh(b * x) - cos(b * x) - s * (sinh(b * x) - sin(b * x))


def simpson(f, n=2000):
    h = 1 / n
    return h / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * f(i * h) for i in range(n + 1))


def main():
    c = sqrt(E * A * A / 12 / RHO) / L**2
    terms = []
    for n in range(5):
        b = beta(n)
        gamma = simpson(lambda x: mode(b, x)) / simpson(lambda x: mode(b, x) ** 2)
        omega = b * b * c
        terms.append((G * gamma * mode(b, 1) / omega**2, omega))
    print("static", 12 * RHO * G * L**4 / (8 * E * A * A), "sum of modes", sum(t[0] for t in terms))
    print("frequencies / Hz", [t[1] / (2 * pi) for t in terms])
    for t in (0.02, 0.05, 0.1, 0.2):
        print(t, -sum(a * (1 - cos(w * t)) for a, w in terms))


if __name__ == "__main__":
    main()
