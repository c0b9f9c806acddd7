#!/usr/bin/env python3
"""Reference values for models/yu: the pendulum of YV-3 and the hanging chain of YV-4 before anything touches.

A chain of n equal point masses on massless links of length L is a pendulum with n angles; s_jk = n - max(j, k) masses hang
below both links j and k (counted from 0):

    sum_k s_jk (cos(a_j - a_k) a_k'' + sin(a_j - a_k) a_k'^2) + (g/L) s_jj sin(a_j) = 0

solved by classical Runge-Kutta steps of 0.5 ms (steps of 1 ms give the same digits). That ropes stay tight, so that links
may stand for them, is seen from the tension: what the masses below a link need.
"""
from math import cos, inf, pi, radians, sin


def solve(A, b):
    n = len(b)
    A = [row[:] + [x] for row, x in zip(A, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(A[r][i]))
        A[i], A[p] = A[p], A[i]
        for r in range(i + 1, n):
            f = A[r][i] / A[i][i]
            for c in range(i, n + 1):
                A[r][c] -= f * A[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (A[i][n] - sum(A[i][c] * x[c] for c in range(i + 1, n))) / A[i][i]
    return x


def accelerations(a, w, g, L):
    n = len(a)
    s = [[n - max(j, k) for k in range(n)] for j in range(n)]
    A = [[s[j][k] * cos(a[j] - a[k]) for k in range(n)] for j in range(n)]
    b = [-sum(s[j][k] * sin(a[j] - a[k]) * w[k] ** 2 for k in range(n)) - g / L * s[j][j] * sin(a[j]) for j in range(n)]
    return solve(A, b)


def least_tension(a, w, g, L):
    e = accelerations(a, w, g, L)
    n, ax, ay, acc = len(a), 0.0, 0.0, []
    for k in range(n):
        ax += L * (e[k] * cos(a[k]) - w[k] ** 2 * sin(a[k]))
        ay += L * (e[k] * sin(a[k]) + w[k] ** 2 * cos(a[k]))
        acc.append((ax, ay + g))
    least = float("inf")
    for j in range(n):
        fx, fy = sum(p[0] for p in acc[j:]), sum(p[1] for p in acc[j:])
        least = min(least, -fx * sin(a[j]) + fy * cos(a[j]))
    return least


def run(n, angle, L, g, end, h=5e-4, speeds=None):
    """From one angle for all, or from n of them with their speeds."""
    x = (list(angle) if isinstance(angle, list) else [angle] * n) + (list(speeds) if speeds else [0.0] * n)
    least = float("inf")

    def f(y):
        return y[n:] + accelerations(y[:n], y[n:], g, L)

    def moved(y, k, s):
        return [p + s * q for p, q in zip(y, k)]

    for _ in range(round(end / h)):
        k1 = f(x)
        k2 = f(moved(x, k1, h / 2))
        k3 = f(moved(x, k2, h / 2))
        k4 = f(moved(x, k3, h))
        x = [p + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4) for p, q1, q2, q3, q4 in zip(x, k1, k2, k3, k4)]
        least = min(least, least_tension(x[:n], x[n:], g, L))
    return x[:n], x[n:], least


def first_touch(n, angle, L, g, way, h=5e-4):
    """The disc that first gets `way` beyond the vertical of the hook, where its mirror image meets it, and when."""
    a, w, t = [angle] * n, [0.0] * n, 0.0
    past = [-inf] * n
    while True:
        a, w, _ = run(n, a, L, g, h, h, w)
        t += h
        here = [-L * sum(map(sin, a[: k + 1])) for k in range(n)]
        for k in range(n):
            if here[k] >= way:
                return k + 1, t - h * (here[k] - way) / (here[k] - past[k])
        past = here


if __name__ == "__main__":
    a, w, _ = run(1, pi / 3, 1.0, 9.8, 0.5)
    print(f"YV-3: kinetic energy of 1 kg at 0.5 s: {0.5 * w[0] ** 2:.6f} J")
    a, w, least = run(10, pi / 2, 0.5, 9.8, 1.0)
    x, y = -0.45 - 0.5 * sum(map(sin, a)), -0.5 * sum(map(cos, a))
    print(f"YV-4: disc 10 of the left chain at 1 s: {x:.6f}, {y:.6f} m; least tension {least:.4f} N for 1 kg")
    for degrees in (30, 45, 60, 90):
        disc, time = first_touch(10, radians(degrees), 0.5, 9.8, 0.3)
        print(f"YV-4: let go at {degrees} degrees, discs {disc} and {disc + 10} meet first, at {time:.4f} s")
