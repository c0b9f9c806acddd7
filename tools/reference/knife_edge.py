"""Chaplygin sleigh: a knife edge under a rigid body moving on the plane without force.

m = 2 kg, J = 0.5 kg m^2 about the mass centre, the knife edge touches at a point P; the mass centre lies a = 0.3 m ahead
of P on the line of the edge. P cannot move across the edge (non-holonomic). Heading th, speed u of P along the edge,
w = th'. Start: P at the origin, th = 0, u = 1 m/s, w = 2 rad/s. With B = J + m a^2:
    u' = a w^2,   B w' = -m a u w,   x' = u cos th,  y' = u sin th      (x, y of P)
Closed form (energy m u^2/2 + B w^2/2 is constant), U^2 = u0^2 + B w0^2/m, n = a m U/B, tanh(t0) = u0/U:
    u = U tanh(n t + t0),  w = U sqrt(m/B) / cosh(n t + t0),  th = (1/a) sqrt(B/m) (gd(n t + t0) - gd(t0)), gd(x) = 2 atan(tanh(x/2))
The path is one quadrature of u (cos th, sin th).
"""
import mpmath as mp
import numpy as np
from refode import L, LD, agreement, dop853, gbs, show

m, J, a = L(2), L("0.5"), L("0.3")
B = J + m * a * a


def rhs(t, y):
    x, yy, th, u, w = y
    return np.array([u * np.cos(th), u * np.sin(th), w, a * w * w, -m * a * u * w / B])


def closed(t):
    mp.mp.dps = 30
    mm, aa = mp.mpf(2), mp.mpf("0.3")
    b = mp.mpf("0.5") + mm * aa**2
    U = mp.sqrt(1 + b * 4 / mm)
    n, t0 = aa * mm * U / b, mp.atanh(1 / U)
    gd = lambda x: 2 * mp.atan(mp.tanh(x / 2))
    th = lambda s: mp.sqrt(b / mm) / aa * (gd(n * s + t0) - gd(t0))
    u = lambda s: U * mp.tanh(n * s + t0)
    pts = mp.linspace(0, t, 11)
    return [mp.quad(lambda s: u(s) * mp.cos(th(s)), pts), mp.quad(lambda s: u(s) * mp.sin(th(s)), pts), th(t), u(t),
            U * mp.sqrt(mm / b) / mp.cosh(n * t + t0)]


if __name__ == "__main__":
    times = [1, 2, 5]
    y0 = np.array([0, 0, 0, 1, 2], dtype=LD)
    show("energy [J]", (m * y0[3] ** 2 + B * y0[4] ** 2) / 2)
    ref = gbs(rhs, y0, times, H=LD(1) / 50)
    for t, y in zip(times, ref):
        show(f"t = {t}: x, y of P [m]", y[:2])
        show("       th [rad], u [m/s], w [rad/s]", y[2:])
        show("       mass centre [m]", [y[0] + a * np.cos(y[2]), y[1] + a * np.sin(y[2])])
        print("       closed form differs by", agreement(y, [LD(mp.nstr(v, 24)) for v in closed(mp.mpf(t))]))
    print("DOP853 differs by", agreement(ref, dop853(rhs, y0, times)))
    U = np.sqrt(1 + B * 4 / m)
    show("as t grows: u [m/s], heading [rad]",
         [U, np.sqrt(B / m) / a * (2 * np.arctan(LD(1)) - 2 * np.arctan(np.tanh(np.arctanh(1 / U) / 2)))])
