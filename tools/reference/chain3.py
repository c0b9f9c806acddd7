"""Chain of three links: problem C of the benchmark page.

Three links, each length l = 1 m, mass m = 1 kg, square section w = 0.05 m, so that the inertia about the joint
axis z is I = m (l^2 + w^2)/12 at the centre. Revolute joints about z, start straight along +x at rest, gravity
9.81 along -y. The motion is planar. Unknowns: absolute angles th_i of the links against +x.

Lagrange: with u_i = (cos th_i, sin th_i), centre i at l sum_{k<i} u_k + (l/2) u_i,
    T = 1/2 sum_ij A_ij cos(th_i - th_j) w_i w_j,   A_ij = m l^2 sum_k c_ki c_kj + I delta_ij,
    c_ki = 1 for i < k, 1/2 for i = k, 0 for i > k,      V = m g l sum_k sum_i c_ki sin th_i
    sum_j A_ij (cos(th_i - th_j) w_j' + sin(th_i - th_j) w_j^2) + m g l (sum_k c_ki) cos th_i = 0
"""
import numpy as np
from refode import L, LD, agreement, dop853, gbs, show, solve

m, l, w, g = L(1), L(1), L("0.05"), L("9.81")
N = 3
I = m * (l**2 + w**2) / 12
c = np.array([[LD(1) if i < k else LD(1) / 2 if i == k else LD(0) for i in range(N)] for k in range(N)])
A = m * l**2 * c.T @ c + I * np.eye(N, dtype=LD)
B = m * g * l * c.sum(axis=0)


def rhs(t, y):
    th, om = y[:N], y[N:]
    d = th[:, None] - th[None, :]
    return np.concatenate([om, solve(A * np.cos(d), -(A * np.sin(d)) @ om**2 - B * np.cos(th))])


def energy(y):
    th, om = y[:N], y[N:]
    return om @ (A * np.cos(th[:, None] - th[None, :])) @ om / 2 + B @ np.sin(th)


def tip(y):
    return l * np.array([np.cos(y[:N]).sum(), np.sin(y[:N]).sum()])


def tip_velocity(y):
    th, om = y[:N], y[N:]
    return l * np.array([-(np.sin(th) * om).sum(), (np.cos(th) * om).sum()])


if __name__ == "__main__":
    times = [LD(1) / 2, 1, 2, 3]
    y0 = np.zeros(2 * N, dtype=LD)
    ref = gbs(rhs, y0, times, H=LD(1) / 160)
    print("energy (zero: all links along +x) is 0 for all time; drift at 3 s:", float(energy(ref[-1])))
    for t, y in zip(times, ref):
        show(f"t = {float(t)}: tip x, y [m]", tip(y))
        show("          tip velocity [m/s]", tip_velocity(y))
        show("          absolute angles [rad]", y[:N])
        show("          angular velocities [rad/s]", y[N:])
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 320)))
    d = dop853(rhs, y0, times)
    for i, t in enumerate(times):
        print(f"DOP853 at 1e-13, t = {float(t)}: tip differs by", agreement(tip(ref[i]), tip(d[i])))
    quoted = {1: ("-1.723813292507", "-2.298855694450"), 2: ("-1.952865310434", "-0.076825644508")}
    for t, q in quoted.items():
        print(f"published tip at t = {t} differs by", agreement(tip(ref[times.index(t)]), [L(v) for v in q]))
