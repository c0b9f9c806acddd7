"""Torque-free asymmetric body turning near its middle axis (tennis-racket motion).

J = diag(1, 2, 3) kg m^2, body angular velocity at the start (0.01, 2, 0.02) rad/s, R(0) = identity, no moment.
    J w' + w x J w = 0,   p' = p o (0, w)/2
Here L^2 = 16.0037 > 2 E J2 = 16.0026, so w3 never vanishes (Landau-Lifshitz, section 37):
    w1 = sqrt((2E J3 - L^2)/(J1 (J3-J1))) cn s,  w2 = sqrt((2E J3 - L^2)/(J2 (J3-J2))) sn s,
    w3 = sqrt((L^2 - 2E J1)/(J3 (J3-J1))) dn s,  s = n t + s0,  n^2 = (J3-J2)(L^2-2E J1)/(J1 J2 J3),
    k^2 = (J2-J1)(2E J3-L^2)/((J3-J2)(L^2-2E J1))
Attitude: with z along the constant angular momentum, R = Q Rz(phi) Rx(th) Rz(chi), cos th = J3 w3/L,
    tan chi = J1 w1/(J2 w2),  phi' = L (J1 w1^2 + J2 w2^2)/(J1^2 w1^2 + J2^2 w2^2)   (one quadrature), Q from R(0) = 1.
"""
import mpmath as mp
import numpy as np
from refode import LD, agreement, array, cross, dop853, gbs, quaternion_matrix, quaternion_rate, show

J = array([1, 2, 3])


def rhs(t, y):
    w = y[4:]
    return np.concatenate([quaternion_rate(y[:4], w), -cross(w, J * w) / J])


mp.mp.dps = 30
I1, I2, I3 = mp.mpf(1), mp.mpf(2), mp.mpf(3)
w0 = [mp.mpf("0.01"), mp.mpf(2), mp.mpf("0.02")]
E2 = I1 * w0[0] ** 2 + I2 * w0[1] ** 2 + I3 * w0[2] ** 2
L2 = (I1 * w0[0]) ** 2 + (I2 * w0[1]) ** 2 + (I3 * w0[2]) ** 2
n = mp.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
amp = [mp.sqrt((E2 * I3 - L2) / (I1 * (I3 - I1))), mp.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))),
       mp.sqrt((L2 - E2 * I1) / (I3 * (I3 - I1)))]
s0 = mp.ellipf(mp.asin(w0[1] / amp[1]), k2)


def omega(t):
    s = n * t + s0
    return [amp[0] * mp.ellipfun("cn", s, m=k2), amp[1] * mp.ellipfun("sn", s, m=k2), amp[2] * mp.ellipfun("dn", s, m=k2)]


def attitude(t):
    Rz = lambda a: mp.matrix([[mp.cos(a), -mp.sin(a), 0], [mp.sin(a), mp.cos(a), 0], [0, 0, 1]])
    Rx = lambda a: mp.matrix([[1, 0, 0], [0, mp.cos(a), -mp.sin(a)], [0, mp.sin(a), mp.cos(a)]])

    def euler(time, phi):
        w = omega(time)
        return Rz(phi) * Rx(mp.acos(I3 * w[2] / mp.sqrt(L2))) * Rz(mp.atan2(I1 * w[0], I2 * w[1]))

    def rate(time):
        w = omega(time)
        return mp.sqrt(L2) * (I1 * w[0]**2 + I2 * w[1]**2) / (I1**2 * w[0]**2 + I2**2 * w[1]**2)

    return euler(0, 0).T * euler(t, mp.quad(rate, mp.linspace(0, t, 1 + 4 * int(t))))


if __name__ == "__main__":
    times = [5, 10, 20]
    y0 = np.concatenate([array([1, 0, 0, 0]), array(["0.01", "2", "0.02"])])
    show("energy [J]", y0[4:] @ (J * y0[4:]) / 2)
    show("angular momentum, world", J * y0[4:])
    print("period of omega 4 K/n [s]", mp.nstr(4 * mp.ellipk(k2) / n, 18), " k^2 =", mp.nstr(k2, 18))
    ref = gbs(rhs, y0, times, H=LD(1) / 50)
    for t, y in zip(times, ref):
        R = quaternion_matrix(y[:4])
        show(f"t = {t}: body omega [rad/s]", y[4:])
        show("       quaternion", y[:4])
        for i in range(3):
            show(f"       row {i + 1} of R", R[i])
        exact = attitude(mp.mpf(t))
        print("       closed form differs by", agreement(y[4:], [LD(mp.nstr(v, 24)) for v in omega(mp.mpf(t))]), "in omega,",
              agreement(R, [[LD(mp.nstr(exact[i, j], 24)) for j in range(3)] for i in range(3)]), "in R")
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 100)))
    print("DOP853 differs by", agreement(ref, dop853(rhs, y0, times)))
