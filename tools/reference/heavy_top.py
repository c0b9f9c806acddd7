"""Heavy top: the fast top of the literature (Cardona/Geradin, Bruels) and a regular precession.

m = 15 kg, J = diag(0.234375, 0.46875, 0.234375) kg m^2 about the mass centre, which is at X = (0,1,0) m in the body
frame whose origin is the fixed point. R(0) = identity, body angular velocity (0, 150, -4.61538) rad/s, gravity
9.81 along -z. About the fixed point A = J_x + m = 15.234375 (transverse), C = J_y = 0.46875 (figure axis y).

    Theta W' + W x Theta W = X x m R^T g,     p' = p o (0, W)/2,      Theta = diag(A, C, A)
Invariants: energy, C W_y, angular momentum about z. Closed form of the height z = u:
    u'^2 = f(u) = (2/A)(e - m g u)(1 - u^2) - ((Lz - Ly u)/A)^2,   e = energy - C W_y^2/2
    u(t) = u1 + (u2 - u1) sn^2( sqrt(m g (u3 - u1)/(2A)) (t - t0), k ),   k^2 = (u2 - u1)/(u3 - u1)

Regular precession at the angle theta between figure axis and vertical: A cos(theta) Phi^2 - C W_y Phi + m g = 0;
here theta = 60 deg, W_y = 150 rad/s, slow root.
"""
import mpmath as mp
import numpy as np
from refode import L, LD, agreement, array, cross, dop853, gbs, quaternion_matrix, quaternion_rate, show

m, g = L(15), L("9.81")
A, C = L("15.234375"), L("0.46875")
theta_O = np.array([A, C, A])
X = array([0, 1, 0])
grav = np.array([LD(0), LD(0), -g])


def rhs(t, y):
    W = y[4:]
    R = quaternion_matrix(y[:4])
    return np.concatenate([quaternion_rate(y[:4], W), (cross(X, m * (R.T @ grav)) - cross(W, theta_O * W)) / theta_O])


def position(y):
    return quaternion_matrix(y[:4]) @ X


def velocity(y):
    return quaternion_matrix(y[:4]) @ cross(y[4:], X)


def invariants(y):
    R = quaternion_matrix(y[:4])
    return np.array([y[4:] @ (theta_O * y[4:]) / 2 + m * g * position(y)[2], C * y[5], (R @ (theta_O * y[4:]))[2]])


def closed_height(times):
    """z of the mass centre from elliptic functions, for the start at u = 0."""
    mp.mp.dps = 30
    a, c, mg, w3, wz = mp.mpf("15.234375"), mp.mpf("0.46875"), 15 * mp.mpf("9.81"), mp.mpf(150), mp.mpf("-4.61538")
    e, Ly, Lz = a * wz**2 / 2, c * w3, a * wz
    roots = sorted(mp.polyroots([2 * mg / a, -2 * e / a - (Ly / a) ** 2, -2 * mg / a + 2 * Lz * Ly / a**2,
                                 2 * e / a - (Lz / a) ** 2], maxsteps=200, extraprec=200), key=mp.re)
    u1, u2, u3 = [mp.re(r) for r in roots]
    # u = 0, u' = 0 at the start: an end of the nutation interval [u1, u2]
    n, k2 = mp.sqrt(mg * (u3 - u1) / (2 * a)), (u2 - u1) / (u3 - u1)
    shift = mp.mpf(0) if abs(u1) < abs(u2) else mp.ellipk(k2)
    print("nutation between z =", mp.nstr(u1, 14), "and", mp.nstr(u2, 14), " period", mp.nstr(2 * mp.ellipk(k2) / n, 14))
    return [u1 + (u2 - u1) * mp.ellipfun("sn", n * mp.mpf(str(t)) + shift, m=k2) ** 2 for t in times]


if __name__ == "__main__":
    times = [LD(1) / 4, LD(1) / 2, 1, LD(3) / 2, 2]
    y0 = np.concatenate([array([1, 0, 0, 0]), array(["0", "150", "-4.61538"])])
    show("energy, C W_y, L_z", invariants(y0))
    ref = gbs(rhs, y0, times, H=LD(1) / 200)
    for t, y in zip(times, ref):
        show(f"t = {float(t)}: position [m]", position(y))
        show("          velocity [m/s]", velocity(y))
        show("          body omega [rad/s]", y[4:])
    print("drift of the invariants at 2 s:", (invariants(ref[-1]) - invariants(y0)).astype(float))
    print("half the macro step changes the state by", agreement(ref, gbs(rhs, y0, times, H=LD(1) / 400)))
    d = dop853(rhs, y0, times)
    print("DOP853 differs in position by", max(agreement(position(a), position(b)) for a, b in zip(ref, d)))
    u = closed_height([float(t) for t in times])
    print("closed form of z differs by", max(abs(float(position(y)[2] - LD(mp.nstr(v, 22)))) for y, v in zip(ref, u)))

    print("\nregular precession, theta = 60 deg, W_y = 150 rad/s")
    cos_t, sin_t, w3 = LD(1) / 2, np.sqrt(LD(3)) / 2, LD(150)
    disc = np.sqrt((C * w3) ** 2 - 4 * A * cos_t * m * g)
    slow, fast = (C * w3 - disc) / (2 * A * cos_t), (C * w3 + disc) / (2 * A * cos_t)
    show("precession slow, fast [rad/s]", [slow, fast])
    show("spin W_y - Phi cos(theta) [rad/s]", [w3 - slow * cos_t, w3 - fast * cos_t])
    # figure axis R e_y = (0, sin 60, cos 60): turned about x by 30 deg
    half = np.arctan(LD(1)) / 3
    z0 = np.array([np.cos(half), np.sin(half), LD(0), LD(0), LD(0), w3, slow * sin_t])
    show("start: quaternion", z0[:4])
    show("start: body omega [rad/s]", z0[4:])
    out = gbs(rhs, z0, times, H=LD(1) / 200)
    for t, y in zip(times, out):
        a = slow * LD(t)
        exact = np.array([-sin_t * np.sin(a), sin_t * np.cos(a), cos_t])
        show(f"t = {float(t)}: position, closed form", exact)
        print("          integration differs by", agreement(position(y), exact))
