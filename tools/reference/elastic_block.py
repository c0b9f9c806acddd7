#!/usr/bin/env python3
"""Plane block of one bilinear element that swings about its lower left corner, in the coordinates of its nodes.

Nodes 4 (0, 0), 1 (L, 0), 2 (L, H), 3 (0, H) with positions x_a in the world: constant mass matrix m_ab I, and the energy
1/2 u^T K u of the displacements u_a = A^T (x_a - x_4) - X_a against the frame at node 4 whose x axis points to node 1. Eight
coordinates, as many as the source's block with its frame and five elastic coordinates has: the same motion in other
coordinates (E-16). The gradient of the energy is written out; node 4 stays at the origin. Classical Runge-Kutta.

Prints the corner positions checked by models/flexible/elastic_block.yaml, for two steps.
"""
from math import sqrt

L, H, T = 1.0, 0.5, 0.01  # length, height, thickness
RHO, E, NU, G = 1000.0, 2e6, 0.3, 9.81
X = [(0.0, 0.0), (L, 0.0), (L, H), (0.0, H)]  # nodes 4, 1, 2, 3


def stiffness():
    """Plane stress, 2 x 2 Gauss points; freedoms node by node."""
    c = E / (1 - NU * NU)
    D = [[c, c * NU, 0], [c * NU, c, 0], [0, 0, c * (1 - NU) / 2]]
    K = [[0.0] * 8 for _ in range(8)]
    g = 1 / sqrt(3)
    for s in (-g, g):
        for r in (-g, g):
            dr = [-(1 - s) / 4, (1 - s) / 4, (1 + s) / 4, -(1 + s) / 4]
            ds = [-(1 - r) / 4, -(1 + r) / 4, (1 + r) / 4, (1 - r) / 4]
            dx, dy = [2 / L * v for v in dr], [2 / H * v for v in ds]
            B = [[0.0] * 8 for _ in range(3)]
            for a in range(4):
                B[0][2 * a] = B[2][2 * a + 1] = dx[a]
                B[1][2 * a + 1] = B[2][2 * a] = dy[a]
            w = L * H / 4 * T
            for i in range(8):
                for j in range(8):
                    K[i][j] += w * sum(B[p][i] * D[p][q] * B[q][j] for p in range(3) for q in range(3))
    return K


K = stiffness()
M = [[RHO * T * L * H / 36 * s for s in row] for row in ([4, 2, 1, 2], [2, 4, 2, 1], [1, 2, 4, 2], [2, 1, 2, 4])]


def inverse(A):
    n = len(A)
    A = [row[:] + [float(i == j) for j in range(n)] for i, row in enumerate(A)]
    for k in range(n):
        A[k] = [v / A[k][k] for v in A[k]]
        for i in range(n):
            if i != k:
                f = A[i][k]
                A[i] = [v - f * w for v, w in zip(A[i], A[k])]
    return [row[n:] for row in A]


Mi = inverse([row[1:] for row in M[1:]])  # node 4 is held


def forces(x):
    """-dV/dx of the nodes 1, 2, 3 (node 4 at the origin)."""
    r = sqrt(x[0][0] ** 2 + x[0][1] ** 2)
    c, s = x[0][0] / r, x[0][1] / r
    u = [0.0, 0.0]
    for a in range(3):
        u += [c * x[a][0] + s * x[a][1] - X[a + 1][0], -s * x[a][0] + c * x[a][1] - X[a + 1][1]]
    f = [sum(K[i][j] * u[j] for j in range(8)) for i in range(8)]  # dV/du
    # dV/dtheta at fixed x: du_a/dtheta = (y', -x') in the frame's axes
    turn = 0.0
    out = []
    for a in range(3):
        lx, ly = u[2 * a + 2] + X[a + 1][0], u[2 * a + 3] + X[a + 1][1]
        turn += f[2 * a + 2] * ly - f[2 * a + 3] * lx
        out.append([-(c * f[2 * a + 2] - s * f[2 * a + 3]), -(s * f[2 * a + 2] + c * f[2 * a + 3])])
    # theta moves with node 1: dtheta = (-s dx + c dy)/r
    out[0][0] -= turn * -s / r
    out[0][1] -= turn * c / r
    return out


def acceleration(x):
    f = forces(x)
    for a in range(3):
        f[a][1] -= G * sum(M[a + 1])
    return [[sum(Mi[a][b] * f[b][k] for b in range(3)) for k in range(2)] for a in range(3)]


def run(steps, end, marks):
    h = end / steps
    x, v, out = [list(p) for p in X[1:]], [[0.0, 0.0] for _ in range(3)], {}
    comb = lambda x, *t: [[x[a][k] + sum(c * y[a][k] for c, y in t) for k in range(2)] for a in range(3)]
    for i in range(steps):
        a1 = acceleration(x)
        a2 = acceleration(comb(x, (h / 2, v)))
        a3 = acceleration(comb(x, (h / 2, v), (h * h / 4, a1)))
        a4 = acceleration(comb(x, (h, v), (h * h / 2, a2)))
        x = comb(x, (h, v), (h * h / 6, a1), (h * h / 6, a2), (h * h / 6, a3))
        v = comb(v, (h / 6, a1), (h / 3, a2), (h / 3, a3), (h / 6, a4))
        for m in marks:
            if abs((i + 1) * h - m) < h / 2:
                out[m] = x
    return out


if __name__ == "__main__":
    for steps in (10000, 20000):
        for t, x in run(steps, 1.0, (0.2, 0.5, 1.0)).items():
            print(steps, t, *[f"node {a + 1}: {p[0]:.9f} {p[1]:.9f}" for a, p in enumerate(x)])
