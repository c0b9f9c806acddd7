"""Integrators shared by the reference problems.

Two unrelated methods solve dy/dt = f(t, y), so that their agreement measures the error of both:
  dop853   scipy's Dormand-Prince 8(5,3), rtol = atol = 1e-13, in double precision (53-bit mantissa)
  gbs      Gragg's modified midpoint rule extrapolated in h^2 to order 16, fixed macro step, in extended
           precision (64-bit mantissa, numpy.longdouble); its error falls as H^16 until round-off near 1e-18
A right-hand side must therefore be written for both number types: no float literals that are not exact in
double precision (write L("9.81"), or LD(981)/100), no numpy.linalg.
"""
import numpy as np
from scipy.integrate import solve_ivp

LD = np.longdouble


def L(text):
    """A decimal constant to full extended precision; numpy mixes it with doubles without loss."""
    return LD(text)


def array(values):
    return np.array([LD(v) for v in values], dtype=LD)


def solve(A, b):
    """Gauss elimination with row pivoting for any real type."""
    A = np.array(A, copy=True)
    b = np.array(b, copy=True)
    n = len(b)
    for k in range(n):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            b[i] -= f * b[k]
    for k in range(n - 1, -1, -1):
        b[k] = (b[k] - A[k, k + 1:] @ b[k + 1:]) / A[k, k]
    return b


def dop853(f, y0, times, tol=1e-13, t0=0.0):
    """States at the times (ascending), one row each."""
    g = lambda t, y: np.asarray(f(t, y), dtype=float)
    rows, y, t = [], np.asarray(y0, dtype=float), t0
    for te in times:  # end the integration at every output time: dense output is only of order 7
        s = solve_ivp(g, (t, float(te)), y, method="DOP853", rtol=tol, atol=tol)
        if not s.success:
            raise RuntimeError(s.message)
        y, t = s.y[:, -1], float(te)
        rows.append(y)
    return np.array(rows)


def gbs_step(f, t, y, H, columns=8):
    """One macro step: Aitken-Neville in (H/n)^2 over n = 2, 4, ..., 2*columns midpoint substeps."""
    T = []
    f0 = f(t, y)
    for j in range(columns):
        n = 2 * (j + 1)
        h = H / n
        a, b = y, y + h * f0
        for i in range(1, n):
            a, b = b, a + 2 * h * f(t + i * h, b)
        row = [(a + b + h * f(t + H, b)) / 2]
        for k in range(j):
            r = (LD(n) / LD(2 * (j - k))) ** 2
            row.append(row[k] + (row[k] - T[k]) / (r - 1))
        T = row
    return T[-1]


def gbs(f, y0, times, H, t0=0):
    """States at the times (ascending) with macro steps of at most H, in extended precision."""
    y, t, rows = np.array(y0, dtype=LD), LD(t0), []
    for te in times:
        te = LD(te)
        n = int(np.ceil(float((te - t) / LD(H)) - 1e-9))
        start, step = t, (te - t) / n
        for i in range(n):
            y = gbs_step(f, start + i * step, y, step)
        t = te
        rows.append(y)
    return np.array(rows)


def agreement(a, b):
    """Largest absolute difference of two tables of states."""
    return float(np.max(np.abs(np.asarray(a, dtype=LD) - np.asarray(b, dtype=LD))))


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], dtype=a.dtype)


def quaternion_matrix(p):
    """Rotation matrix (body to world) of p = (scalar, vector); divides by |p|^2, so p need not be normalised."""
    s, x, y, z = p
    return np.array([[s*s + x*x - y*y - z*z, 2*(x*y - s*z), 2*(x*z + s*y)],
                     [2*(x*y + s*z), s*s - x*x + y*y - z*z, 2*(y*z - s*x)],
                     [2*(x*z - s*y), 2*(y*z + s*x), s*s - x*x - y*y + z*z]]) / (s*s + x*x + y*y + z*z)


def quaternion_rate(p, omega_body):
    """p' = p o (0, omega)/2."""
    s, v = p[0], p[1:]
    return np.concatenate([[-(v @ omega_body)], s * omega_body + cross(v, omega_body)]) / 2


def show(label, values, digits=14):
    print(f"{label:<34}", "  ".join(
        f"{np.format_float_positional(LD(v), digits, unique=False):>{digits + 4}}" for v in np.ravel(values)))
