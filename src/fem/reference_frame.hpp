// Where the frame of a flexible body is: rows that its elastic displacements keep at zero.
#pragma once

#include "fem/interface.hpp"
#include "fem/structure.hpp"
#include "model/flexible.hpp"

namespace clatter::fem {

// E-11, linearised: the origin stays in the mass centre, int u = 0, and the axes along the principal axes p_a of the
// deformed body, d(J_ab) = -int (X_a u_b + X_b u_a) = 0 for a != b. The frame turns by d(J_ab)/(J_a - J_b): where two
// principal moments are nearly equal their axes tell little of how the body has turned.
BoundaryRows principal_frame(const Structure& s);

// E-11: origin at the first node, e1 towards the second, the third in the plane of e1 and e2.
BoundaryRows nodal_frame(const Structure& s, const ReferenceDescription& d);

}  // namespace clatter::fem
