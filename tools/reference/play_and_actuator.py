"""Force laws with play (PV-3: laws P-9 a, b and the set P-10) and a first-order actuator.

Mass on a table: m g'' = F - m G for the distance g (negative: penetration), start g = 0, g' = -1 m/s, m = 1 kg, c = 1000 N/m,
d = 10 N s/m, G = 0 or 10 m/s^2.
  (a) F = -c g while g < 0;   (b) F = -c g - d g' while g < 0 (ends at g = 0);
  (c) the set P-10: contact from touch until F = -c g - d g' = 0, then the surface relaxes. (The clipped law P-9 (c) gives the
      same single contact from this start; in flight towards a surface it differs, since it pushes before touch.)
In contact g = -mG/c + e^(-z w0 t)(A cos wd t + B sin wd t), w0 = sqrt(c/m), z = d/(2 sqrt(c m)), wd = w0 sqrt(1-z^2).
Oscillator with play: mass 1 kg between two flanks at x = +-0.1 m (law (a), (b) or (c) at both), G = 0,
start x = 0, x' = 1 m/s; followed piecewise in closed form to t = 1, 2 s.
Actuator: T z' = u - z, m x'' = z, u = 2 N, T = 0.1 s, m = 1 kg, all zero at the start:
z = u (1 - e^(-t/T)), m x' = u (t - T (1 - e^(-t/T))),
m x = u (t^2/2 - T t + T^2 (1 - e^(-t/T))); and the same actuator on m x'' + 0.5 x' + 4 x = z (matrix exponential).
"""
import mpmath as mp
import numpy as np
from scipy.integrate import solve_ivp

mp.mp.dps = 30
m, c = mp.mpf(1), mp.mpf(1000)


def contact(law, G, v0):
    """Duration, end position, end velocity and largest force of one contact that starts at g = 0 with g' = v0 < 0."""
    d = mp.mpf(0) if law == "a" else mp.mpf(10)
    zeta = d / (2 * mp.sqrt(c * m))
    w0 = mp.sqrt(c / m)
    wd = w0 * mp.sqrt(1 - zeta**2)
    A = m * G / c
    B = (v0 + zeta * w0 * A) / wd

    def state(t):
        ex, C, S = mp.exp(-zeta * w0 * t), mp.cos(wd * t), mp.sin(wd * t)
        x = ex * (A * C + B * S)
        v = ex * ((B * wd - zeta * w0 * A) * C - (A * wd + zeta * w0 * B) * S)
        return x - A, v

    force = lambda t: -c * state(t)[0] - d * state(t)[1]
    event = force if law == "c" else (lambda t: state(t)[0])
    # bracket the first return of the indicator after the middle of the contact
    t = mp.pi / wd / 2
    step = mp.pi / wd / 50
    sign = mp.sign(event(t))
    while mp.sign(event(t + step)) == sign:
        t += step
    te = mp.findroot(event, (t, t + step), solver="anderson", tol=1e-50)
    x, v = state(te)
    return te, x, v, force(te), state


def one_contact_check(law, G, te, x, v):
    """The same contact by DOP853 with event location."""
    d = 0.0 if law == "a" else 10.0
    f = lambda t, y: [y[1], -1000 * y[0] - d * y[1] - float(G)]
    indicator = (lambda t, y: -1000 * y[0] - d * y[1]) if law == "c" else (lambda t, y: y[0])
    s = solve_ivp(f, (0, 1.2 * float(te)), [0, -1], method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True)
    t = float(te)
    for _ in range(3):  # Newton on the dense output
        h = 1e-7
        k = (indicator(0, s.sol(t + h)) - indicator(0, s.sol(t - h))) / (2 * h)
        t -= indicator(0, s.sol(t)) / k
    return max(abs(t - float(te)), abs(s.sol(t)[0] - float(x)), abs(s.sol(t)[1] - float(v)))


def play(law, times):
    """States (x, x') of the oscillator with play, alternating flights and contacts; law (c): the flanks relax in between (checked)."""
    d = mp.mpf(10)
    delta, t, x, v, out = mp.mpf("0.1"), mp.mpf(0), mp.mpf(0), mp.mpf(1), []
    times = [mp.mpf(s) for s in times]
    while len(out) < len(times):
        side = mp.sign(v)
        flight = (delta - side * x) / abs(v)                      # the far flank, in the direction of motion
        while len(out) < len(times) and times[len(out)] <= t + flight:
            out.append((x + v * (times[len(out)] - t), v))
        t, x = t + flight, side * delta
        te, g, vg, _, state = contact(law, mp.mpf(0), -abs(v))
        while len(out) < len(times) and times[len(out)] <= t + te:
            gx, gv = state(times[len(out)] - t)
            out.append((side * (delta - gx), -side * gv))
        if law == "c":
            rest = g * mp.exp(-c / d * (2 * delta / abs(vg)))     # the flank's residual deformation at its next touch
            assert abs(rest) < 1e-8
        t, x, v = t + te, side * (delta - g), -side * vg
    return out


def play_by_events(law, t_end):
    """The oscillator with play by DOP853 from event to event; in law (c) the mass leaves when the force vanishes."""
    d = 0.0 if law == "a" else 10.0
    t, y, side = 0.0, np.array([0.0, 1.0]), 1.0
    while True:
        reach = lambda _, q: side * q[0] - 0.1
        force = lambda _, q: 1000 * (side * q[0] - 0.1) + d * side * q[1]
        leave = force if law == "c" else reach
        for rhs, event in ((lambda _, q: [q[1], 0.0], reach), (lambda _, q: [q[1], -side * force(_, q)], leave)):
            event.terminal, event.direction = True, 1 if rhs(0, [side * 1.0, 0.0])[1] == 0 else -1
            s = solve_ivp(rhs, (t, t_end), y, method="DOP853", rtol=1e-13, atol=1e-15, events=event, max_step=0.01)
            t, y = s.t[-1], s.y[:, -1]
            if s.status == 0:
                return y
        side = -side


if __name__ == "__main__":
    s = lambda v: mp.nstr(v, 15)
    for G in (mp.mpf(0), mp.mpf(10)):
        for law in "abc":
            te, x, v, F, state = contact(law, G, mp.mpf(-1))
            turn = mp.findroot(lambda t: state(t)[1], (mp.mpf(0), te), solver="anderson", tol=1e-50)
            print(f"G = {s(G)}, law ({law}): contact time {s(te)}  end velocity {s(v)}  end position {s(x)}  end force {s(F)}")
            print(f"    depth {s(-state(turn)[0])} at {s(turn)};  DOP853 differs by {one_contact_check(law, G, te, x, v):.1e}")
    z = mp.mpf(10) / (2 * mp.sqrt(c))
    print("closed forms at G = 0: (a)", s(mp.pi / mp.sqrt(c)), " (b)", s(mp.pi / mp.sqrt(c * (1 - z * z))),
          s(mp.exp(-mp.pi * z / mp.sqrt(1 - z * z))), " (c)", s(2 * mp.acos(z) / mp.sqrt(c * (1 - z * z))),
          s(mp.exp(-2 * z * mp.acos(z) / mp.sqrt(1 - z * z))))
    print("\noscillator with play +-0.1 m")
    print("law (a): period 4 delta/v + 2 pi sqrt(m/c) =", s(mp.mpf("0.4") + 2 * mp.pi / mp.sqrt(c)))
    for law in "abc":
        for t, (x, v) in zip((1, 2), play(law, [1, 2])):
            y = play_by_events(law, t)
            print(f"law ({law}), t = {t}: x = {s(x)}, x' = {s(v)};  DOP853 differs by {float(max(abs(y[0] - x), abs(y[1] - v))):.1e}")
    print("\nactuator")
    T, u = mp.mpf("0.1"), mp.mpf(2)
    A = mp.matrix([[0, 1, 0], [-4, mp.mpf("-0.5"), 1], [0, 0, -1 / T]])
    rest = mp.matrix([u / 4, 0, u])
    for t in (mp.mpf("0.5"), mp.mpf(1), mp.mpf(2)):
        k = 1 - mp.exp(-t / T)
        print(f"t = {s(t)}: z = {s(u * k)}, x' = {s(u * (t - T * k))}, x = {s(u * (t * t / 2 - T * t + T * T * k))}")
        y = rest - mp.expm(A * t) * rest
        num = solve_ivp(lambda _, q: [q[1], q[2] - 0.5 * q[1] - 4 * q[0], (2 - q[2]) / 0.1], (0, float(t)), [0, 0, 0], method="DOP853",
                        rtol=1e-13, atol=1e-15).y[:, -1]
        error = np.max(np.abs(num - [float(q) for q in y]))
        print(f"    on the spring-damper: x = {s(y[0])}, x' = {s(y[1])};  DOP853 differs by {error:.1e}")
