"""Bennett linkage: an overconstrained spatial 4R loop with one degree of freedom.

Denavit-Hartenberg closure A1 A2 A3 A4 = 1, A_i = Rz(th_i) Tx(a_i) Rx(al_i), lengths a, b, a, b, twists al, be, al, be,
no offsets, a/sin(al) = b/sin(be). Here al = 30 deg, be = 60 deg, a = 1 m, b = sqrt(3) m.
World frame = frame 1: joint 1 at the origin about z; joint 4 at (-b, 0, 0) about (0, sin be, cos be) is the other ground joint.
    tan(th1/2) tan(th2/2) = K = sin((be+al)/2)/sin((be-al)/2) = 1 + sqrt(3),   th3 = -th1, th4 = -th2
    th2' = -K th1'/D,  th2'' = K (1 - K^2) s c th1'^2/D^2 (+ -K th1''/D),  D = K^2 c^2 + s^2,  c, s = cos, sin(th1/2)
Bodies: crank 1-2, coupler 2-3, rocker 3-4: rods between the joint points, 1 kg per metre (masses 1, sqrt(3), 1), centre
in the middle, inertia m l^2/12 about the transverse axes and 0.001 kg m^2 about the rod. Start th1 = 40 deg.
Driven case: th1 = 40 deg + t (1 rad/s). Free case: from rest, gravity 9.81 along -y, one degree of freedom
    M(th) th'' + 1/2 M'(th) th'^2 + V'(th) = 0,  M = sum m |c'|^2 + w.J w,  with w = angular velocity per th1'.
"""
import numpy as np
from refode import L, LD, agreement, array, cross, dop853, gbs, show

PI = 4 * np.arctan(LD(1))
al, be = PI / 6, PI / 3
a, b = LD(1), np.sqrt(LD(3))
K = 1 + np.sqrt(LD(3))
mass, length, axial = np.array([a, b, a]), np.array([a, b, a]), L("0.001")
grav = array(["0", "-9.81", "0"])
th0 = 2 * PI / 9


def Rz(t):
    return np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])


def Rx(t):
    return np.array([[1, 0, 0], [0, np.cos(t), -np.sin(t)], [0, np.sin(t), np.cos(t)]])


def th2(th1):
    """Continuous for 0 < th1 < 2 pi."""
    return 2 * np.arctan2(K * np.cos(th1 / 2), np.sin(th1 / 2))


def joints(th1):
    """Points and axes of joints 1..4, and the closure error of the whole loop."""
    t = [th1, th2(th1), -th1, -th2(th1)]
    R, p, points, axes = np.eye(3, dtype=LD), np.zeros(3, dtype=LD), [], []
    for i in range(4):
        points.append(p)
        axes.append(R[:, 2])
        R = R @ Rz(t[i])
        p = p + R[:, 0] * (a if i % 2 == 0 else b)
        R = R @ Rx(al if i % 2 == 0 else be)
    return np.array(points), np.array(axes), max(np.max(np.abs(p)), np.max(np.abs(R - np.eye(3))))


def rates(th1):
    """Per unit th1' and with th1'' = 0: c', c'' of the centres; w, w' of the bodies; rod directions."""
    P, z, _ = joints(th1)
    c, s = np.cos(th1 / 2), np.sin(th1 / 2)
    D = K**2 * c**2 + s**2
    r2, q2 = -K / D, K * (1 - K**2) * s * c / D**2
    w1, w3 = z[0], r2 * z[3]                      # the rocker turns about the ground joint 4 with th2'
    w2 = w1 + r2 * z[1]
    dw = [0 * w1, q2 * z[1] + r2 * cross(w1, z[1]), q2 * z[3]]
    e = [(P[i + 1] - P[i]) / length[i] for i in range(3)]
    v2 = cross(w1, P[1])
    a2 = cross(w1, v2)
    arm = [P[1] / 2, (P[2] - P[1]) / 2, (P[2] - P[3]) / 2]
    v = [cross(w1, arm[0]), v2 + cross(w2, arm[1]), cross(w3, arm[2])]
    acc = [cross(w1, v[0]), a2 + cross(dw[1], arm[1]) + cross(w2, cross(w2, arm[1])),
           cross(dw[2], arm[2]) + cross(w3, v[2])]
    return v, acc, [w1, w2, w3], dw, e, [P[1] / 2, (P[1] + P[2]) / 2, (P[2] + P[3]) / 2]


def reduced(th1):
    v, acc, w, dw, e, ctr = rates(th1)
    It = mass * length**2 / 12
    M = sum(mass[i] * v[i] @ v[i] + It[i] * w[i] @ w[i] + (axial - It[i]) * (w[i] @ e[i]) ** 2 for i in range(3))
    halfdM = sum(mass[i] * v[i] @ acc[i] + It[i] * w[i] @ dw[i] + (axial - It[i]) * (w[i] @ e[i]) * (dw[i] @ e[i])
                 for i in range(3))
    V = -sum(mass[i] * grav @ ctr[i] for i in range(3))
    dV = -sum(mass[i] * grav @ v[i] for i in range(3))
    return M, halfdM, V, dV


def rhs(t, y):
    M, halfdM, V, dV = reduced(LD(y[0]))
    return np.array([y[1], -(halfdM * y[1] ** 2 + dV) / M])


def quadrature_time(theta):
    """t = int sqrt(M/(2 (V0 - V))) d th from rest; th = th0 + (theta - th0) x^2 removes the singularity at the start."""
    V0, span = reduced(th0)[2], theta - th0

    def f(x):
        M, _, V, dV = reduced(th0 + span * x * x)
        return np.sqrt(M / (2 * (V0 - V))) * 2 * x * abs(span)

    x, w = np.polynomial.legendre.leggauss(60)
    for _ in range(2):  # refine the double-precision nodes to extended precision
        x = x.astype(LD)
        p0, p1 = np.ones(60, dtype=LD), x.copy()
        for n in range(2, 61):
            p0, p1 = p1, ((2 * n - 1) * x * p1 - (n - 1) * p0) / n
        dp = 60 * (x * p1 - p0) / (x * x - 1)
        x = x - p1 / dp
    w = 2 / ((1 - x * x) * dp**2)
    return sum(wi * f((xi + 1) / 2) for xi, wi in zip(x, w)) / 2


if __name__ == "__main__":
    P, z, err = joints(th0)
    print("start th1 = 40 deg, loop closure error", float(err))
    for i in range(4):
        show(f"joint {i + 1}: point [m]", P[i])
        show("         axis", z[i])
    show("th2 at the start [rad], K", [th2(th0), K])
    print("\ndriven, th1 = 40 deg + t: th2 [rad], th2' [rad/s], joint 3 [m] (rocker turns by th2(t) - th2(0) about its axis 4)")
    for t in (LD(1) / 2, 1, 2, 3, 5):
        th = th0 + t
        show(f"t = {float(t)}", [th2(th), -K / (K**2 * np.cos(th / 2) ** 2 + np.sin(th / 2) ** 2), *joints(th)[0][2]])
        print("         loop closure error", float(joints(th)[2]))
    h = L("1e-5")
    print("M' and V' against central differences:",
          float(reduced(th0)[1] - (reduced(th0 + h)[0] - reduced(th0 - h)[0]) / (4 * h)),
          float(reduced(th0)[3] - (reduced(th0 + h)[2] - reduced(th0 - h)[2]) / (2 * h)))
    print("\nfree from rest under gravity along -y")
    show("energy = V(0) [J], M(0) [kg m^2]", [reduced(th0)[2], reduced(th0)[0]])
    times = [LD(1) / 4, LD(1) / 2, 1, 2]
    y0 = np.array([th0, LD(0)])
    ref = gbs(rhs, y0, times, H=LD(1) / 100)
    for t, y in zip(times, ref):
        M, _, V, _ = reduced(y[0])
        show(f"t = {float(t)}: th1 [rad], th1' [rad/s]", y)
        show("          th2 [rad]", th2(y[0]))
        show("          joint 3 [m]", joints(y[0])[0][2])
        print("          energy drift", float(M * y[1] ** 2 / 2 + V - reduced(th0)[2]))
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 200)))
    print("DOP853 differs by", agreement(ref, dop853(rhs, y0, times)))
    print("time by quadrature of the energy integral at the first angle:", float(quadrature_time(ref[0][0]) - LD(1) / 4), "off")
