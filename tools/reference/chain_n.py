"""Chain of N links with the link data of benchmark problem C (see chain3.py), for N = 30 and 300: tip at 1 s and 2 s.

The same Lagrange equations with the N x N mass matrix solved densely: A_ij cos(th_i - th_j),
    A_ij = m l^2 (N - max(i, j) - 1/2) for i != j (i, j from 0 and counted to the tip),  A_ii = m l^2 (N - i - 3/4) + I,
    B_i = m g l (N - i - 1/2).
Checked by two tolerances of DOP853, and N = 3 against chain3.py.
"""
import sys
import numpy as np
import chain3
from refode import dop853

m, l, w, g = 1.0, 1.0, 0.05, 9.81


def chain(N):
    i = np.arange(N)
    A = m * l**2 * (N - np.maximum(i[:, None], i[None, :]) - 0.5)
    A[i, i] = m * l**2 * (N - i - 0.75) + m * (l**2 + w**2) / 12
    B = m * g * l * (N - i - 0.5)

    def rhs(t, y):
        th, om = y[:N], y[N:]
        c, s = np.cos(th), np.sin(th)
        C = A * (np.outer(c, c) + np.outer(s, s))
        S = A * (np.outer(s, c) - np.outer(c, s))
        return np.concatenate([om, np.linalg.solve(C, -S @ om**2 - B * c)])

    def energy(y):
        th, om = y[:N], y[N:]
        return om @ (A * np.cos(th[:, None] - th[None, :])) @ om / 2 + B @ np.sin(th)

    return rhs, energy


def tip(N, y):
    return l * np.array([np.cos(y[:N]).sum(), np.sin(y[:N]).sum()])


if __name__ == "__main__":
    for N in [int(a) for a in sys.argv[1:]] or [3, 30, 300]:
        rhs, energy = chain(N)
        tables = [dop853(rhs, np.zeros(2 * N), [1, 2], tol) for tol in (1e-11, 1e-13)]
        for k, t in enumerate((1, 2)):
            x, y = tip(N, tables[1][k])
            print(f"N = {N}, t = {t}: tip {x:.12f} {y:.12f}, tolerances differ by",
                  f"{np.max(np.abs(tip(N, tables[0][k]) - tip(N, tables[1][k]))):.1e}, energy {energy(tables[1][k]):.1e}")
        if N == 3:
            print("against chain3.py:", np.max(np.abs(tip(3, tables[1][1]) - tip(3, dop853(chain3.rhs, np.zeros(6), [1, 2])[1]))))
