// Third derivative of a plane formula f(x, y), contracted with a velocity twice: t_k = f_ijk u_i u_j.
//
// The Hessian is evaluated over numbers a + eps b whose parts are themselves second-order jets, once for each direction
// k of eps. Only the linearised equations of a point on a formula's curve need it.
#pragma once

namespace clatter {

class Expression;

void curve_third_derivative(const Expression& f, double x, double y, double ux, double uy, double t[2]);

}  // namespace clatter
