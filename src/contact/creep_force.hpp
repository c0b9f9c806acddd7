// Creep forces of rolling contact by Polach (Y-45): creepages and an ellipse of contact in, tangential forces out.
//
// x along rolling, y across, n into the wheel; a along x, b along y; N normal force. The wheel's velocity v_c at the
// contact point and its angular velocity w, at the forward speed V, give the creepages
//
//   xi_x = v_cx / V_r,   xi_y = v_cy / V_r,   phi = w_n / V_r    (1/m)
//   V_r = |V| for |V| >= V_0, else (V^2 + V_0^2) / (2 V_0):  once continuously differentiable, never below V_0 / 2
//
// so that a wheel that stands feels friction smoothed over slips of about V_0 times its creepage of saturation instead
// of a division by zero (T-21). With mu = mu_0 ((1 - A) exp(-B s V_r) + A) and k_A >= k_S (both 1 and A = 1: Polach
// 1999; else his law of 2005 for wet or dirty rails):
//
//   s^2 = xi_x^2 + xi_y^2,   s_y = xi_y + phi a or xi_y, the larger of both,   s_C^2 = xi_x^2 + s_y^2
//   c_jj = sqrt((C_11 xi_x)^2 + (C_22 xi_y)^2) / s,   eps = pi G a b c_jj s_C / (4 mu N)
//   F = (2 mu N / pi) (k_A eps / (1 + (k_A eps)^2) + atan(k_S eps)),
//   kappa = 1 + 6.3 (1 - exp(-a/b)),   eps_s = (8/3) b sqrt(a b) G C_23 |s_y| / (kappa mu N)
//   F_x = -F xi_x / s_C,   F_y = -F xi_y / s_C - G (a b)^(3/2) C_23 phi (|s_y| / s_C) / (1 + eps_s^2)^2
//
// The last term is Polach's -(9/16) a mu N kappa M phi / s_C: with D = (eps_s^2 - 1)/(eps_s^2 + 1) his
// M = eps_s (-D^3/3 + D^2/2 - 1/6) + (1 - D^2)^(3/2)/3 is nothing but (2/3) eps_s / (1 + eps_s^2)^2. So written it
// shows its limit, Kalker's linear force of spin, and loses no digits for strong spin.
//
// Small creepages along one axis and pure spin give Kalker's linear forces; of oblique ones the size is Kalker's, the
// direction that of the creepage. Large ones give mu N. At xi = 0 the law has partial derivatives, those along the
// axes, and they are returned; N <= 0 gives no force.
#pragma once

#include <Eigen/Core>

#include "contact/kalker_coefficients.hpp"

namespace clatter::contact {

struct Creepage {
  double x = 0, y = 0;
  double spin = 0;   // phi, 1/m
  double speed = 0;  // V_r, m/s; only friction that falls with slip asks for it
};

// Ellipse, material and load of a contact. a and b are those of this N.
struct CreepPatch {
  double a = 0, b = 0, N = 0;
  double shear_modulus = 0;  // G, of both bodies
  double C11 = 0, C22 = 0, C23 = 0;
};

// Friction of Polach's law.
struct CreepFriction {
  double mu = 0.3;                // mu_0
  double limit = 1, decay = 0;    // A = mu at infinite slip / mu_0; B, s/m
  double adhesion = 1, slip = 1;  // k_A, k_S
};

// Columns of the derivatives.
enum CreepVariable { kCreepX, kCreepY, kCreepSpin, kCreepLoad, kCreepSpeed, kCreepVariables };

struct CreepForce {
  Eigen::Vector2d force = Eigen::Vector2d::Zero();  // on the wheel, N
  // By the creepages, by N with a and b following it as N^(1/3) (Hertz), and by V_r at fixed creepages.
  Eigen::Matrix<double, 2, kCreepVariables> by = Eigen::Matrix<double, 2, kCreepVariables>::Zero();
};

CreepForce creep_force(const Creepage& creepage, const CreepPatch& patch, const CreepFriction& friction);

// Kalker's linear forces, without limit: what creep_force starts with.
Eigen::Vector2d linear_creep_force(const Creepage& creepage, const CreepPatch& patch);

// Creepages with their derivatives: rows xi_x, xi_y, phi, V_r; columns v_cx, v_cy, w_n, V.
struct CreepageOfMotion {
  Creepage creepage;
  Eigen::Matrix4d by;
};
CreepageOfMotion creepage_of(const Eigen::Vector2d& slip_velocity, double spin_velocity, double speed,
                             double least_speed);

}  // namespace clatter::contact
