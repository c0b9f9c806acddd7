"""Parallelogram four-bar passing its flat, singular positions (one loop of the 'N four-bar' benchmark).

Three uniform rods of 1 m and 1 kg: crank (0,0)-(0,1), coupler (0,1)-(1,1), rocker (1,0)-(1,1); ground pivots (0,0)
and (1,0). Gravity 9.81 along -y, coupler starts with +1 m/s along x. On the parallelogram branch the coupler only
translates and both side bars have the angle phi against +x, phi(0) = pi/2, phi'(0) = -1:
    T = 1/2 (2/3 + 1) phi'^2,  V = 2 g sin(phi),     phi'' = -(6/5) g cos(phi),   energy 5/6 + 2 g
The energy exceeds 2 g: the linkage turns over and over and is flat (singular) at phi = 0, -pi, -2 pi, ...
Closed form, with psi = phi/2 - pi/4 and n^2 = 24 g/5:
    phi'^2 = 1 + (12/5) g (1 - sin phi) = 1 + n^2 sin^2 psi
    t(psi) = integral_psi^0 2 d psi / sqrt(1 + n^2 sin^2 psi) = 2 F(-psi | m = -n^2),  psi(t) = -am(t/2 | -n^2)
"""
import mpmath as mp
import numpy as np
from refode import L, LD, agreement, dop853, gbs, show

g = L("9.81")


def rhs(t, y):
    return np.array([y[1], -6 * g / 5 * np.cos(y[0])])


def energy(y):
    return 5 * y[1] ** 2 / 6 + 2 * g * np.sin(y[0])


def closed(t):
    """phi(t) by inverting the elliptic integral."""
    n2 = 24 * mp.mpf("9.81") / 5
    quarter = 2 * mp.ellipf(mp.pi / 2, -n2)  # time of psi = -pi/2, half a turn
    turns = mp.floor(t / (2 * quarter))
    rest = t - turns * 2 * quarter
    psi = mp.findroot(lambda p: 2 * mp.ellipf(p, -n2) - rest, (mp.mpf(0), mp.pi), solver="anderson", tol=1e-45)
    return mp.pi / 2 - 2 * (psi + turns * mp.pi)


if __name__ == "__main__":
    mp.mp.dps = 30
    n2 = 24 * mp.mpf("9.81") / 5
    T = 4 * mp.ellipf(mp.pi / 2, -n2)
    flat = 2 * mp.ellipf(mp.pi / 4, -n2)
    print("period of one turn [s]               ", mp.nstr(T, 18))
    print("flat (phi = 0) first at [s]          ", mp.nstr(flat, 18), " phi' =", mp.nstr(-mp.sqrt(1 + n2 / 2), 16))
    print("flat again (phi = -pi) at [s]        ", mp.nstr(T - flat, 18))
    y0 = np.array([2 * np.arctan(LD(1)), LD(-1)])
    show("energy 5/6 + 2 g [J]", energy(y0))
    times = [1, 2, 5, 10]
    ref = gbs(rhs, y0, times, H=LD(1) / 100)
    for t, y in zip(times, ref):
        show(f"t = {t}: phi [rad], phi' [rad/s]", y)
        show("       coupler centre [m]", [np.cos(y[0]) + LD(1) / 2, np.sin(y[0])])
        print("       closed form of phi differs by", float(abs(y[0] - LD(mp.nstr(closed(mp.mpf(t)), 25)))))
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 200)))
    print("DOP853 differs by", agreement(ref, dop853(rhs, y0, times)))
