"""Spatial double pendulum with spherical joints.

Two boxes 1 x 0.1 x 0.05 m (x, y, z of the body frame), 1 kg each, J = m/12 diag(b^2+c^2, a^2+c^2, a^2+b^2).
Body 1 hangs by a spherical joint at the origin, which is the middle of its -x face; body 2 by a spherical joint at the
middle of the +x face of body 1 and of its own -x face. Both start with body axes along the world axes (centres at
(0.5,0,0) and (1.5,0,0)); angular velocity of body 1 zero, of body 2 (0.5, 1, 0.3) rad/s. Gravity 9.81 along -z.

With d_i = R_i (1/2,0,0), I_i = R_i J R_i^T, moments about the origin and about the joint:
    a1 = al1 x d1 + w1 x (w1 x d1),   a2 = 2 a1 + al2 x d2 + w2 x (w2 x d2)
    I1 al1 + w1 x I1 w1 + d1 x m(a1 - g) + 2 d1 x m(a2 - g) = 0
    I2 al2 + w2 x I2 w2 + d2 x m(a2 - g) = 0
First formulation: quaternions and body angular velocities with these 6 equations (extended precision).
Second: rotation matrices, world angular velocities, centres and 6 joint forces as unknowns (18 equations, DOP853).
"""
import numpy as np
from refode import (L, LD, agreement, array, cross, dop853, gbs, quaternion_matrix, quaternion_rate, show, skew, solve)

m = L(1)
box = array(["1", "0.1", "0.05"])
J = m / 12 * np.array([box[1]**2 + box[2]**2, box[0]**2 + box[2]**2, box[0]**2 + box[1]**2])
grav = array(["0", "0", "-9.81"])
half = np.array([LD(1) / 2, LD(0), LD(0)])
E3 = np.eye(3, dtype=LD)


def world(y):
    R1, R2 = quaternion_matrix(y[0:4]), quaternion_matrix(y[4:8])
    return R1, R2, R1 @ y[8:11], R2 @ y[11:14]


def rhs(t, y):
    R1, R2, w1, w2 = world(y)
    d1, d2 = R1 @ half, R2 @ half
    I1, I2 = R1 @ np.diag(J) @ R1.T, R2 @ np.diag(J) @ R2.T
    S1, S2 = skew(d1), skew(d2)
    b1 = cross(w1, cross(w1, d1))
    b2 = 2 * b1 + cross(w2, cross(w2, d2))
    A = np.block([[I1 - m * S1 @ S1 * 5, -2 * m * S1 @ S2], [-2 * m * S2 @ S1, I2 - m * S2 @ S2]])
    r = np.concatenate([-cross(w1, I1 @ w1) - m * S1 @ (b1 - grav) - 2 * m * S1 @ (b2 - grav),
                        -cross(w2, I2 @ w2) - m * S2 @ (b2 - grav)])
    al = solve(A, r)
    return np.concatenate([quaternion_rate(y[0:4], y[8:11]), quaternion_rate(y[4:8], y[11:14]),
                           R1.T @ al[:3], R2.T @ al[3:]])  # (R^T w)' = R^T w', since w x w = 0


def rhs_multipliers(t, y):
    """y = R1, R2 (row by row), w1, w2 (world). Unknowns a1, al1, a2, al2, joint forces F on body 1, P on body 2."""
    R, w = y[:18].reshape(2, 3, 3), y[18:].reshape(2, 3)
    Jd, gd, mm = np.diag(J.astype(float)), grav.astype(float), float(m)
    d = [R[i] @ half.astype(float) for i in range(2)]
    A, b, e = np.zeros((18, 18)), np.zeros(18), np.eye(3)
    for i in range(2):
        I = R[i] @ Jd @ R[i].T
        k = 6 * i
        A[k:k+3, k:k+3], b[k:k+3] = mm * e, mm * gd
        A[k+3:k+6, k+3:k+6], b[k+3:k+6] = I, -np.cross(w[i], I @ w[i])
    S = [skew(x) for x in d]
    A[0:3, 12:15], A[3:6, 12:15] = -e, S[0]        # F acts at -d1
    A[0:3, 15:18], A[3:6, 15:18] = e, S[0]         # -P acts at +d1
    A[6:9, 15:18], A[9:12, 15:18] = -e, S[1]       # P acts at -d2
    c = [np.cross(w[i], np.cross(w[i], d[i])) for i in range(2)]
    A[12:15, 0:3], A[12:15, 3:6], b[12:15] = e, S[0], c[0]
    A[15:18, 0:3], A[15:18, 3:6], A[15:18, 6:9], A[15:18, 9:12] = e, -S[0], -e, -S[1]
    b[15:18] = -c[0] - c[1]
    x = np.linalg.solve(A, b)
    return np.concatenate([(skew(w[i]) @ R[i]).ravel() for i in range(2)] + [x[3:6], x[9:12]])


def observables(y):
    R1, R2, w1, w2 = world(y)
    d1, d2 = R1 @ half, R2 @ half
    c1, c2 = d1, 2 * d1 + d2
    v1 = cross(w1, d1)
    v2 = 2 * v1 + cross(w2, d2)
    I1, I2 = R1 @ np.diag(J) @ R1.T, R2 @ np.diag(J) @ R2.T
    energy = (m * (v1 @ v1 + v2 @ v2) + w1 @ I1 @ w1 + w2 @ I2 @ w2) / 2 - m * grav @ (c1 + c2)
    Lz = (m * cross(c1, v1) + m * cross(c2, v2) + I1 @ w1 + I2 @ w2)[2]
    return c1, c2, w1, w2, energy, Lz


if __name__ == "__main__":
    times = [LD(1) / 2, 1, 2]
    y0 = np.concatenate([array([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), array(["0.5", "1", "0.3"])])
    ref = gbs(rhs, y0, times, H=LD(1) / 100)
    show("energy [J] and L_z [kg m^2/s]", observables(y0)[4:])
    for t, y in zip(times, ref):
        c1, c2, w1, w2, E, Lz = observables(y)
        show(f"t = {float(t)}: centre 1 [m]", c1)
        show("          centre 2 [m]", c2)
        show("          omega 1, world [rad/s]", w1)
        show("          omega 2, world [rad/s]", w2)
        print("          drift of energy and L_z:", float(E - observables(y0)[4]), float(Lz - observables(y0)[5]))
    half_step = gbs(rhs, y0, times, H=LD(1) / 200)
    print("half the macro step changes centre 2 and omega 2 by",
          max(agreement(observables(a)[i], observables(b)[i]) for a, b in zip(ref, half_step) for i in (1, 3)))
    z0 = np.concatenate([np.eye(3).ravel(), np.eye(3).ravel(), np.zeros(3), [0.5, 1, 0.3]])
    for t, a, b in zip(times, ref, dop853(rhs_multipliers, z0, times)):
        d1, d2 = b[:9].reshape(3, 3)[:, 0] / 2, b[9:18].reshape(3, 3)[:, 0] / 2
        o = observables(a)
        print(f"second formulation, t = {float(t)}: centres and omega 2 differ by",
              max(agreement(o[0], d1), agreement(o[1], 2 * d1 + d2), agreement(o[3], b[21:])))
