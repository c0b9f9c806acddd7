"""Recomputation of verification cases PV-1, PV-2, PV-6 and PV-24 (spec/pfeiffer-theory.md) from first principles.

PV-1: A_gamma A_beta A_alpha (0.3, 0.2, 0.1) and the Euler product z-x-z (0.3, 0.2, 0.1).
PV-2: body 1 turns about inertial z by q1, its centre 0.5 along its x; body 2 turns about body-1 y by q2 at 1 along body-1 x, its centre
      0.5 along its own x. Kinematics by differentiating positions and rotation matrices; M and h by Lagrange.
PV-6: rod of length 2s sliding to the right on the ground, dynamics of the rod with contact force (-mu lambda, lambda)
      at the lower end; lambda from the condition that the end stays on the ground.
PV-24: the same accelerations from the two-coordinate form: Newton's equations projected on the motions compatible with contact.
All in 30 digits; every published digit string is compared at half a unit of its last place.
"""
import mpmath as mp
import sympy as sp

mp.mp.dps = 30
failures = []


def check(name, value, published):
    value = sp.N(value, 25)
    digits = len(published.split(".")[1]) if "." in published else 0
    units = abs(value - sp.Rational(published)) * 10**digits  # in units of the last published place
    verdict = "right" if units <= sp.Rational(500001, 10**6) else "cut, not rounded" if units < 1 else "WRONG"
    print(f"{name:<22} {sp.N(value, 16, chop=True)!s:>22}   published {published:>14}  {verdict}")
    if verdict != "right":
        failures.append(f"{name} {verdict}")


def check_all(name, values, published):
    for i, (v, p) in enumerate(zip(values, published.split())):
        check(f"{name}[{i}]", v, p)


def Ax(a):
    return sp.Matrix([[1, 0, 0], [0, sp.cos(a), -sp.sin(a)], [0, sp.sin(a), sp.cos(a)]])


def Ay(a):
    return sp.Matrix([[sp.cos(a), 0, sp.sin(a)], [0, 1, 0], [-sp.sin(a), 0, sp.cos(a)]])


def Az(a):
    return sp.Matrix([[sp.cos(a), -sp.sin(a), 0], [sp.sin(a), sp.cos(a), 0], [0, 0, 1]])


def axial(S):
    return sp.Matrix([S[2, 1], S[0, 2], S[1, 0]])


r = sp.Rational

print("PV-1")
check_all("Kardan", Az(r("0.3")) * Ay(r("0.2")) * Ax(r("0.1")),
          "0.936293364 -0.275095847 0.218350663 0.289629478 0.956425086 -0.036957014 -0.198669331 0.097843395 0.975170327")
check_all("Euler", Az(r("0.3")) * Ax(r("0.2")) * Az(r("0.1")),
          "0.921649086 -0.383557042 0.058710802 0.387517202 0.902113005 -0.189796061 0.019833838 0.197676812 0.980066578")

print("PV-2")
t = sp.symbols("t")
q = [sp.Function("q1")(t), sp.Function("q2")(t)]
A1 = Az(q[0])
A2 = A1 * Ay(q[1])
r1 = A1 * sp.Matrix([r(1, 2), 0, 0])
r2 = A1 * sp.Matrix([1, 0, 0]) + A2 * sp.Matrix([r(1, 2), 0, 0])
w = [axial(A.T * A.diff(t)) for A in (A1, A2)]                  # body components
J = [sp.diag(r("0.1"), r("0.2"), r("0.3")), sp.diag(r("0.05"), r("0.06"), r("0.07"))]
T = sum((x.diff(t).dot(x.diff(t)) + (wi.T * Ji * wi)[0]) / 2 for x, wi, Ji in zip((r1, r2), w, J))
V = r("9.81") * (r1[2] + r2[2])
eqs = sp.Matrix([(T - V).diff(x.diff(t)).diff(t) - (T - V).diff(x) for x in q])
a = sp.symbols("a1 a2")
dots = [(q[i].diff(t, 2), a[i]) for i in range(2)]
point = [(q[0].diff(t), 1), (q[1].diff(t), r("-0.7")), (q[0], r("0.3")), (q[1], r("0.4"))]
eqs = eqs.subs(dots)
M = eqs.jacobian(a).subs(point)
h = -eqs.subs({a[0]: 0, a[1]: 0}).subs(point)
at = lambda e: e.subs(dots).subs({a[0]: r("0.5"), a[1]: r("0.2")}).subs(point)
check_all("v2 (body 2)", at(A2.T * r2.diff(t)), "0 1.460530497 0.35")
check_all("Omega2", at(w[1]), "-0.389418342 -0.7 0.921060994")
check_all("a2 (body 2)", at(A2.T * r2.diff(t, 2)), "-1.590237671 1.002858088 -0.668757365")
check_all("Omega2'", at(w[1].diff(t)), "0.450033525 0.2 0.733123337")
check_all("r2 (inertial)", at(r2), "1.395298077 0.431616274 -0.194709171")
check_all("M", sp.N(M, 30), "2.750116400 0 0 0.31")
check_all("h", sp.N(h, 30), "-0.408173141 4.226251932")
check_all("q''", sp.N(M, 30).inv() * sp.N(h, 30), "-0.148420314 13.633070749")

print("PV-6")


def rod(deg, rate, mu, lam=None):
    """a, b of gN'' = a lambda + b by Newton and Euler for m = s = 1; q'' and gT'' for the contact force lambda = -b/a."""
    phi, g = sp.pi * deg / 180, r("9.81")
    s, c = sp.sin(phi), sp.cos(phi)

    def accelerations(force):
        # contact end at (c, -s) from the centre; positive phi turns the end downwards (clockwise)
        fx, fy = -mu * force, force
        moment_ccw = c * fy - (-s) * fx
        return fx, fy - g, -3 * moment_ccw

    def end(acc):
        x, y, p = acc
        return y - (c * p - s * rate**2), x + (-s * p - c * rate**2)  # second derivatives of y - sin phi, x + cos phi

    b = end(accelerations(0))[0]
    slope = end(accelerations(1))[0] - b
    lam = -b / slope
    return slope, b, lam, accelerations(lam), end(accelerations(lam))[1]


slope, b, lam, acc, slip = rod(30, 1, r(1, 2))
check("a", slope, "2.600480947")
check("b", b, "-9.31")
check("lambda", lam, "3.580106984")
check_all("q''", acc, "-1.790053492 -6.229893016 -6.616310550")
check("gT''", slip, "0.652076380")
check("b (30, 5, .5)", rod(30, 5, r(1, 2))[1], "2.69")
slope, b, *_ = rod(60, 1, r(5, 3))
check("a (60, 1, 5/3)", slope, "-0.415063509")
check("b (60, 1, 5/3)", b, "-8.943974596")
_, b, lam, *_ = rod(60, 4, r(5, 3))
check("b (60, 4, 5/3)", b, "4.046406461")
check("lambda (60, 4, 5/3)", lam, "9.748885094")

x = sp.symbols("x", positive=True)                             # x = tan phi on the curve a = 0, mu = (4 + x^2)/(3 x)
curve = (4 + x**2) / (3 * x)
lowest = sp.solve(curve.diff(x), x)[0]
check("tan at minimum mu", lowest, "2")
check("minimum mu * 3", 3 * curve.subs(x, lowest), "4")
check("its angle [deg]", sp.atan(lowest) * 180 / sp.pi, "63.4349")
check_all("angles for 5/3 [deg]", [sp.atan(v) * 180 / sp.pi for v in sorted(sp.solve(curve - r(5, 3), x))], "45 75.9638")

print("PV-24")
# p = (x, phi), y = sin phi: q' = Q p'. Virtual work of gravity, inertia and friction -mu lambda at the end, whose
# normal force is lambda = y'' + g; solved for x'', phi'' with y'' = cos(phi) phi'' - sin(phi) phi'^2.
ax, ap = sp.symbols("ax ap")
phi, mu, g = sp.pi / 6, r(1, 2), r("9.81")
ay = sp.cos(phi) * ap - sp.sin(phi)
lam = ay + g
end_per_phi = -sp.sin(phi)                                  # d(x + cos phi)/d phi
eq_x = ax + mu * lam
eq_phi = ay * sp.cos(phi) + g * sp.cos(phi) + ap / 3 + mu * lam * end_per_phi
sol = sp.solve([eq_x, eq_phi], [ax, ap])
check_all("q''", [sol[ax], ay.subs(ap, sol[ap]), sol[ap]], "-1.790053492 -6.229893016 -6.616310550")

print("\nall published digits are right" if not failures else f"\nnot right to the last digit: {failures}")
