// Standard Input Data of flexible bodies (Wallrapp 1994; E-14) as text.
//
// Layout: `part`, `new modal`, then `refmod` (mass, elastic coordinates), `frame` with one `node` a marker (origin,
// phi, psi, AP), and the volume integrals mdCM, J, Ct, Cr, Me, Gr, Ge, Oe, Ke, De, each a Taylor series in the elastic
// coordinates with m0(row, col) and m1(row, col, coordinate). What the standard has no place for (the second moments,
// geometric stiffening, boundary nodes) follows in a block `clatter`, which other readers may skip and without which
// this reader takes a floating frame without stiffening.
#pragma once

#include <string>

#include "base/output_file.hpp"
#include "model/reduced_body.hpp"

namespace clatter::fem {

inline constexpr OutputKind kSidFile{"Standard Input Data of `clatter reduce`",
                                     "part\n  ! Standard Input Data of the flexible body", OutputKind::At::start};

std::string write_sid(const ReducedBody& body, const std::string& name);
// InputError with the line of what is wrong.
ReducedBody read_sid(const std::string& text, const std::string& file);

}  // namespace clatter::fem
