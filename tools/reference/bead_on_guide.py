"""Point mass on a frictionless planar guide: circle and ellipse.

Circle: m = 1 kg, radius R = 1 m, gravity 9.81 along -y, centre at the origin, released at 90 degrees from the bottom,
i.e. at (1, 0), at rest. With th from the bottom: th'' = -(g/R) sin th,
    sin(th/2) = k cd(n t, k),  k = sin(45 deg), n = sqrt(g/R),  period 4 K(k)/n.
Ellipse x = a cos u, y = b sin u, a = 2, b = 1: released at (2, 0) (u = 0) at rest and falling through (0, -1):
    M u'' + 1/2 M' u'^2 + g b cos u = 0,   M = a^2 sin^2 u + b^2 cos^2 u,
    energy integral  t = int_u^0 sqrt(M/(-2 g b sin u)) du.
The guide force along the outward normal follows from Newton's law.
"""
import mpmath as mp
import numpy as np
from refode import L, LD, agreement, dop853, gbs, show

g = L("9.81")


def guide(a, b):
    def rhs(t, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        M = a * a * s * s + b * b * c * c
        return np.array([y[1], -((a * a - b * b) * s * c * y[1] ** 2 + g * b * c) / M])
    return rhs


def observables(a, b, y, rhs):
    u, w = y
    s, c = np.sin(u), np.cos(u)
    acc = rhs(0, y)[1]
    pos, vel = np.array([a * c, b * s]), np.array([-a * s * w, b * c * w])
    acc_v = np.array([-a * c * w * w - a * s * acc, -b * s * w * w + b * c * acc])
    normal = np.array([b * c, a * s]) / np.sqrt((b * c) ** 2 + (a * s) ** 2)  # outward
    force = acc_v + np.array([LD(0), g])
    return pos, vel, normal @ force, vel @ vel / 2 + g * pos[1]


def circle_closed(t):
    k2, n = mp.mpf(1) / 2, mp.sqrt(mp.mpf("9.81"))
    th = 2 * mp.asin(mp.sqrt(k2) * mp.ellipfun("cd", n * t, m=k2))
    return [mp.sin(th), -mp.cos(th)]


def ellipse_time(u_end):
    """Energy integral between rest at u = 0 and u_end in (-pi, 0); the substitution u = -pi sin^2(x/2) clears both ends."""
    a, b, gg = mp.mpf(2), mp.mpf(1), mp.mpf("9.81")

    def f(x):
        u = -mp.pi * mp.sin(x / 2) ** 2
        M = a**2 * mp.sin(u) ** 2 + b**2 * mp.cos(u) ** 2
        return mp.sqrt(M / (2 * gg * b * abs(mp.sin(u)))) * mp.pi * mp.sin(x / 2) * mp.cos(x / 2)

    x_end = 2 * mp.asin(mp.sqrt(-u_end / mp.pi))
    return mp.quad(f, mp.linspace(0, x_end, 9))


if __name__ == "__main__":
    mp.mp.dps = 30
    times = [LD(1) / 2, 1, 2]
    for name, a, b in (("circle", LD(1), LD(1)), ("ellipse", LD(2), LD(1))):
        rhs = guide(a, b)
        y0 = np.zeros(2, dtype=LD)
        ref = gbs(rhs, y0, times, H=LD(1) / 100)
        print(name, "- energy 0 for all time")
        for t, y in zip(times, ref):
            pos, vel, N, E = observables(a, b, y, rhs)
            show(f"t = {float(t)}: x, y [m]", pos)
            show("          velocity [m/s]", vel)
            show("          outward guide force [N]", N)
            show("          u [rad], u' [rad/s]", y)
            if name == "circle":
                exact = [LD(mp.nstr(v, 24)) for v in circle_closed(mp.mpf(str(float(t))))]
                print("          closed form differs by", agreement(pos, exact))
        print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 200)))
        print("DOP853 differs by", agreement(ref, dop853(rhs, y0, times)))
        if name == "circle":
            print("period 4 K/n [s]", mp.nstr(4 * mp.ellipk(mp.mpf(1) / 2) / mp.sqrt(mp.mpf("9.81")), 18))
        else:
            half = ellipse_time(-mp.pi)
            print("period by the energy integral [s]", mp.nstr(2 * half, 18))
            for t, y in zip(times, ref):
                sweep = mp.mpf(str(float(t))) % (2 * half)
                expected = ellipse_time(mp.mpf(np.format_float_positional(y[0], 24, unique=False)))
                expected = expected if y[1] < 0 else 2 * half - expected
                print(f"          energy integral at t = {float(t)} differs by", mp.nstr(expected - sweep, 3))
