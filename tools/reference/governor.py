"""Stiff fly-ball governor.

A spindle (with collar guide) turns about the vertical z, angle phi, inertia Jz = 0.5 kg m^2, driven by a constant torque 2 N m.
Two arms are hinged to it at (+-e, 0, 0) in the spindle frame, e = 0.05 m, hinge axes along the spindle's y, and open outwards
by theta from the downward vertical. Arm and ball are one body: m = 1 kg, centre at distance l = 0.5 m from the hinge,
inertia J = 0.001 kg m^2 about every axis through the centre. The collar, M = 2 kg, inertia Jc = 0.005 kg m^2 about z,
turns with the spindle and slides on it at z = -s. A spring-damper joins each ball centre to the collar point (+-e, 0, -s):
k = 1e6 N/m, c = 1000 N s/m, free length 0.5 m. Gravity 9.81 along -z. No friction. The symmetric motion is followed.
Start: theta = 30 deg, s = 2 l cos(theta) (springs unstretched), theta' = s' = 0, phi = 0, phi' = 10 rad/s.

    T = 1/2 I(theta) phi'^2 + (m l^2 + J) theta'^2 + 1/2 M s'^2,  I = Jz + Jc + 2 (m rho^2 + J),  rho = e + l sin theta
    V = -2 m g l cos theta - M g s + k (d - l0)^2,                d^2 = (l sin theta)^2 + (s - l cos theta)^2
    f = k (d - l0) + c d'   (tension of one spring-damper),  d d' = l s sin(theta) theta' + (s - l cos theta) s'
    (I phi')' = tau
    2 (m l^2 + J) theta'' = 2 m rho l cos(theta) phi'^2 - 2 m g l sin theta - 2 f (l s sin theta)/d
    M s'' = M g - 2 f (s - l cos theta)/d
The spring mode has eigenvalues of size 1e3 1/s, the motion of the governor 1e1 1/s.
"""
import numpy as np
from scipy.integrate import solve_ivp
from refode import L, LD, agreement, gbs, show

Jz, Jc, J, e = L("0.5"), L("0.005"), L("0.001"), L("0.05")
m, M, l, l0 = L(1), L(2), L("0.5"), L("0.5")
k, c, g, tau = L("1e6"), L(1000), L("9.81"), L(2)


def rhs(t, y):
    phi, th, s, dphi, dth, ds = y
    S, C = np.sin(th), np.cos(th)
    rho = e + l * S
    inertia = Jz + Jc + 2 * (m * rho**2 + J)
    q = s - l * C
    d = np.sqrt((l * S) ** 2 + q * q)
    f = k * (d - l0) + c * (l * s * S * dth + q * ds) / d
    return np.array([dphi, dth, ds,
                     (tau - 4 * m * rho * l * C * dth * dphi) / inertia,
                     (m * rho * l * C * dphi**2 - m * g * l * S - f * l * s * S / d) / (m * l * l + J),
                     g - 2 * f * q / (d * M)])


def energy(y):
    phi, th, s, dphi, dth, ds = y
    rho = e + l * np.sin(th)
    d = np.sqrt((l * np.sin(th)) ** 2 + (s - l * np.cos(th)) ** 2)
    return ((Jz + Jc + 2 * (m * rho**2 + J)) * dphi**2 / 2 + (m * l * l + J) * dth**2 + M * ds**2 / 2
            - 2 * m * g * l * np.cos(th) - M * g * s + k * (d - l0) ** 2)


def spin_momentum(y):
    rho = e + l * np.sin(y[1])
    return (Jz + Jc + 2 * (m * rho**2 + J)) * y[3]


if __name__ == "__main__":
    th0 = 4 * np.arctan(LD(1)) / 6
    y0 = np.array([0, th0, 2 * l * np.cos(th0), 10, 0, 0], dtype=LD)
    times = [LD(1) / 2, 1, 2]
    show("start: s [m], energy [J]", [y0[2], energy(y0)])
    ref = gbs(rhs, y0, times, H=LD(1) / 1000)
    for t, y in zip(times, ref):
        show(f"t = {float(t)}: phi, theta, s", y[:3], 13)
        show("          phi', theta', s'", y[3:], 13)
        show("          energy [J]", energy(y), 12)
        print("          angular momentum minus tau t:", float(spin_momentum(y) - tau * LD(t) - spin_momentum(y0)))
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 2000)))
    f = lambda t, y: rhs(t, y).astype(float)
    for method, tol in (("Radau", 1e-11), ("LSODA", 1e-12)):
        y, t0, rows = y0.astype(float), 0.0, []
        for te in (0.5, 1.0, 2.0):
            with np.errstate(over="ignore"):  # phi is cyclic: scipy's difference quotient for its column overflows harmlessly
                y = solve_ivp(f, (t0, te), y, method=method, rtol=tol, atol=tol).y[:, -1]
            t0 = te
            rows.append(y)
        print(f"{method} at {tol} differs by", agreement(ref, rows))
