// Meshes of simple solids, plane figures and lines, made of hexahedra, quadrilaterals and beam elements.
//
// Solids and plane figures are centred on the origin of the mesh. Every generator names its boundary: sets and surfaces
// x-, x+, y-, y+, z-, z+ of a box or rectangle; z-, z+, side (inner, outer) of cylinders and tubes; rim of a disk;
// start and end of a line. `quadratic` adds middles (hex20, quad8), on curved boundaries placed on the curve.
#pragma once

#include "fem/mesh.hpp"

namespace clatter::fem {

Mesh make_box(const Vec3& edges, int nx, int ny, int nz, bool quadratic = false);
Mesh make_rectangle(double width, double height, int nx, int ny, bool quadratic = false);
// Axis z. A square core and four rings; `around` elements on the circumference (a multiple of 4, rounded up), `rings`
// between core and rim.
Mesh make_cylinder(double radius, double length, int around, int rings, int along, bool quadratic = false);
Mesh make_disk(double radius, int around, int rings, bool quadratic = false);
Mesh make_tube(double inner, double outer, double length, int around, int through, int along, bool quadratic = false);
// A simple polygon in the x-y plane (either sense), extruded over [-thickness/2, thickness/2] in z; edges of elements
// are not longer than `size`. Sets z-, z+, and edge_1 ... edge_n between corners n and n + 1.
Mesh make_polygon(const std::vector<Vec3>& corners, double size, bool quadratic = false);  // plane
Mesh make_extrusion(const std::vector<Vec3>& corners, double thickness, double size, int layers,
                    bool quadratic = false);
// Line along x from 0 to length; also through given points, `elements` between neighbours.
Mesh make_line(double length, int elements);
Mesh make_polyline(const std::vector<Vec3>& points, int elements);
// Helix about z, wire centres from z = 0 to `height` (E-50). Sets start and end: the ends of the wire.
Mesh make_helix(double diameter, double height, double coils, int elements_per_coil);

// Meshes that are made have at most so many elements: their factorization already takes more memory than a workstation
// has.
constexpr int kMostElements = 4'000'000;
void require_elements(double count);  // throws InputError above it

// Plane mesh extruded in z; turned by twist(z) = rate z about the z axis. Node sets become surfaces as well.
Mesh extrude(const Mesh& plane, double thickness, int layers, double twist_rate = 0);
// Surfaces of all skin faces whose nodes are all in the node set.
void surfaces_of_node_sets(Mesh& mesh);

}  // namespace clatter::fem
