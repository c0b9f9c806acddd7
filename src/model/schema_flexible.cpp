// The part of the language's table that is about flexible bodies: mesh, material, interfaces, reduction.
#include "model/schema.hpp"

namespace clatter {

namespace {

using V = ValueType;

}  // namespace

// Long because it is a table: a row a key of the language.
std::vector<ObjectSpec> flexible_language() {
  std::vector<ObjectSpec> all;
  all.push_back(
      {"mesh",
       "The mesh of a flexible body: one of the kinds, and how finely it is cut. The body's frame is the mesh's.",
       "the name of a file: `mesh: rod.msh`",
       {{"file", V::text, false, "",
         "A mesh of Gmsh (.msh, format 4.1) or of Abaqus and CalculiX (.inp); or a body that has been reduced before, "
         "as "
         "standard input data (.sid)."},
        {"unit", V::word, false, "", "Unit of the file's coordinates; `m` unless given.", "", {"m", "cm", "mm", "in"}},
        {"merge", V::boolean, false, "", "`true` joins nodes that lie on top of each other."},
        {"matrices", V::object, false, "", "Stiffness and mass made by another program.", "matrices"},
        {"box", V::vector, false, "m", "Edges of a box about the origin; `elements` along x, y, z."},
        {"cylinder", V::object, false, "", "Solid cylinder about z; `elements` around, through, along.", "round"},
        {"tube", V::object, false, "", "Tube about z; `elements` around, through, along.", "tube"},
        {"extrusion", V::points, false, "m",
         "Polygon in the x-y plane, extruded by `thickness` along z; `element_size`, and `elements` along z."},
        {"gear", V::object, false, "", "Involute gear about z, tooth 1 along y.", "gear"},
        {"beam", V::quantity, false, "m", "Straight line of beams from the origin along x; `elements` on it."},
        {"polyline", V::points, false, "m", "Line of beams through points; `elements` between two points."},
        {"spring", V::object, false, "", "Helical spring of beams about z; `elements` a coil.", "spring"},
        {"rectangle", V::vector, false, "m", "Plane: [width, height] about the origin; `elements` along x, y."},
        {"disk", V::quantity, false, "m", "Plane: radius of a disk about the origin; `elements` around, through."},
        {"polygon", V::points, false, "m", "Plane: corners; `element_size`."},
        {"block", V::vector, false, "m",
         "Plane: [length, height] of a block of a single element; the frame's origin is its lower left corner and the "
         "frame moves with its lower edge."},
        {"elements", V::quantities, false, "1", "Numbers of elements; see each kind."},
        {"element_size", V::quantity, false, "m", "Longest edge of an element of a polygon."},
        {"thickness", V::quantity, false, "m", "Thickness of a plane body (1 m unless given) or of an extrusion."},
        {"order", V::word, false, "", "`linear` (the default) or `quadratic` elements.", "", {"linear", "quadratic"}},
        {"incompatible_modes", V::boolean, false, "",
         "`false` leaves linear hexahedra and quadrilaterals without incompatible modes: they are then much too stiff "
         "in bending."},
        {"mass_matrix", V::word, false, "", "`consistent` (the default) or `lumped`.", "", {"consistent", "lumped"}},
        {"plane",
         V::word,
         false,
         "",
         "Plane bodies: plane `stress` (the default) or `strain`.",
         "",
         {"stress", "strain"}}}});
  all.push_back(
      {"matrices",
       "A body given by its matrices, free of supports: freedoms node by node, 3 (x, y, z) or 6 (and rotations).",
       "",
       {{"stiffness", V::text, true, "", "File in MatrixMarket format."},
        {"mass", V::text, true, "", "File in MatrixMarket format."},
        {"nodes", V::text, true, "", "File with the position of each node, three numbers a line."}}});
  all.push_back({"tube",
                 "Size of a tube.",
                 "",
                 {{"radius", V::quantity, true, "m", "Outer radius."},
                  {"inner_radius", V::quantity, true, "m", "Inner radius."},
                  {"length", V::quantity, true, "m", "Length."}}});
  all.push_back({"spring",
                 "Size of a helical spring; the wire's centre line.",
                 "",
                 {{"diameter", V::quantity, true, "m", "Of the helix."},
                  {"length", V::quantity, true, "m", "From end to end of the wire's centre line, along z."},
                  {"coils", V::quantity, true, "1", "Number of coils."}}});
  all.push_back({"gear",
                 "An involute wheel. Sets `flank_T_right`, `flank_T_left`, `tip_T`, `tip_node_T` (T: tooth, from 1 on, "
                 "counter-clockwise; right: the flank at positive x of tooth 1), `bore`, `z-`, `z+`.",
                 "",
                 {{"teeth", V::quantity, true, "1", "Number of teeth."},
                  {"module", V::quantity, true, "m", "Normal module."},
                  {"pressure_angle", V::quantity, false, "rad", "Normal pressure angle; 20 deg unless given."},
                  {"helix_angle", V::quantity, false, "rad", "Helix angle, positive for a right hand; 0 unless given."},
                  {"profile_shift", V::quantity, false, "1",
                   "Addendum modification, multiples of the module: it sets the tooth thickness."},
                  {"tip_diameter", V::quantity, true, "m", "Diameter over the tips."},
                  {"root_diameter", V::quantity, true, "m", "Diameter at the roots."},
                  {"width", V::quantity, true, "m", "Face width."},
                  {"bore_diameter", V::quantity, true, "m", "Diameter of the bore."},
                  {"tip_radius_factor", V::quantity, false, "1",
                   "Tip radius of the generating rack, multiples of the module; 0.38 unless given."},
                  {"involute_elements", V::quantity, false, "1", "Along the involute; 6 unless given."},
                  {"fillet_elements", V::quantity, false, "1", "Along the upper half of the fillet; 2 unless given."},
                  {"tooth_elements", V::quantity, false, "1", "Across half a tooth; 2 unless given."},
                  {"root_elements", V::quantity, false, "1", "Below the tooth; 3 unless given."},
                  {"gap_elements", V::quantity, false, "1", "Along half a gap; 2 unless given."},
                  {"rim_elements", V::quantity, false, "1", "From the bore to the teeth; 3 unless given."},
                  {"width_elements", V::quantity, false, "1", "Along the width; 4 unless given."}}});
  all.push_back(
      {"material",
       "What a flexible body is made of: isotropic, or with three moduli along its own axes.",
       "",
       {{"set", V::text, false, "", "Element set it fills; all elements that have no other material unless given."},
        {"density", V::quantity, true, "kg/m^3", "Density."},
        {"young", V::quantity, false, "Pa", "Young's modulus."},
        {"poisson", V::quantity, false, "1", "Poisson's ratio; 0.3 unless given."},
        {"moduli", V::quantities, false, "Pa", "Orthotropic: [E1, E2, E3]."},
        {"shear_moduli", V::quantities, false, "Pa", "Orthotropic: [G12, G23, G13]."},
        {"ratios", V::quantities, false, "1", "Orthotropic: [nu12, nu23, nu13]; nu12 contracts 2 for tension along 1."},
        {"axes", V::rotation, false, "", "Orthotropic: orientation of the material's axes in the body.",
         "orientation"}}});
  all.push_back(
      {"section",
       "Cross-section of beams: a shape or its numbers. y and z are its principal axes.",
       "",
       {{"circle", V::quantity, false, "m", "Diameter."},
        {"ring", V::quantities, false, "m", "[outer, inner] diameter."},
        {"rectangle", V::quantities, false, "m", "[along y, along z]."},
        {"area", V::quantity, false, "m^2", "Area."},
        {"Iy", V::quantity, false, "m^4", "Second moment about y."},
        {"Iz", V::quantity, false, "m^4", "Second moment about z."},
        {"torsion", V::quantity, false, "m^4", "Torsion constant."},
        {"shear_factors", V::quantities, false, "1", "[along y, along z] for given numbers; 5/6 unless given."},
        {"shear", V::boolean, false, "",
         "`false` makes beams rigid in shear (Euler-Bernoulli); Timoshenko unless given."},
        {"up", V::direction, false, "",
         "Direction near which y of the section lies; chosen by the program unless given."}}});
  all.push_back(
      {"interface",
       "Nodes of a flexible body that act as one frame, `BODY.INTERFACE`: joints, forces and outputs attach there.",
       "the name of a set of the mesh: `tip: x+`",
       {{"set", V::text, false, "",
         "Set of the mesh (of nodes, faces or elements); with `*` an interface for each set that fits, named like the "
         "set."},
        {"box", V::points, false, "m", "Two corners of a box that holds the nodes."},
        {"plane", V::points, false, "m",
         "A point of a plane and a second point straight above it: nodes in the plane."},
        {"node", V::vector, false, "m", "The node nearest to this point."},
        {"sphere", V::vector, false, "m", "Centre of a sphere that holds the nodes; needs `radius`."},
        {"radius", V::quantity, false, "m", "Radius of the sphere."},
        {"coupling",
         V::word,
         false,
         "",
         "`mean`: the frame follows the mean motion of the nodes, which stay free to deform; `rigid`: the nodes follow "
         "the frame; `node`: a single node. `mean` unless given, `node` for a single node.",
         "",
         {"mean", "rigid", "node"}},
        {"weights", V::word, false, "", "Of the mean: `area` (the default) or `equal`.", "", {"area", "equal"}},
        {"at", V::vector, false, "m", "Origin of the frame; the weighted mean of the nodes unless given."},
        {"rotate", V::rotation, false, "", "Orientation of the frame in the body.", "orientation"}}});
  all.push_back(
      {"reduction",
       "How few shapes stand for the deformation of the mesh.",
       "the method alone: `reduce: craig-bampton`",
       {{"method",
         V::word,
         false,
         "",
         "`craig-bampton` (the default): static shapes of the interfaces and modes with them held; `modal`: modes of "
         "the free body, or with `clamped` interfaces; `frequency-response`: modes and the answers to loads at the "
         "interfaces; `given`: shapes of a file; `all`: the whole mesh.",
         "",
         {"craig-bampton", "modal", "frequency-response", "given", "all"}},
        {"modes", V::quantity, false, "1", "How many modes; 10 unless `max_frequency` is given."},
        {"max_frequency", V::quantity, false, "Hz", "All modes up to this frequency."},
        {"clamped", V::names, false, "", "Modal: interfaces that are held while the modes are computed."},
        {"static_corrections", V::boolean, false, "",
         "Modal: also the static answers to unit loads at the interfaces."},
        {"excitation_frequency", V::quantity, false, "Hz", "Frequency-response: of the loads; 0 unless given."},
        {"file", V::text, false, "", "Given: a table with a column for each shape and a row for each freedom."}}});
  all.push_back(
      {"body-damping",
       "Damping of the deformation, in one of these ways.",
       "one damping ratio for all modes: `damping: 0.01`",
       {{"alpha", V::quantity, false, "1/s", "Rayleigh: share of the mass matrix."},
        {"beta", V::quantity, false, "s", "Rayleigh: share of the stiffness matrix."},
        {"frequencies", V::quantities, false, "Hz",
         "Rayleigh: two frequencies, the lower one first, at which `ratios` hold."},
        {"ratios", V::quantities, false, "1", "The two damping ratios at `frequencies`."},
        {"modal", V::quantities, false, "1", "Damping ratio of each mode; the last one for all that follow."}}});
  return all;
}

// Long because it is a table: a row a key of the language.
std::vector<KeySpec> flexible_body_keys() {
  const std::vector<std::string> flexible{"flexible"}, elastic{"flexible", "beam"};
  return {
      {"mesh", V::object, false, "", "Mesh of a flexible body; required.", "mesh", {}, flexible},
      {"material", V::object, false, "", "What it is made of.", "material", {}, elastic},
      {"materials",
       V::object_list,
       false,
       "",
       "Materials of element sets, instead of `material`.",
       "material",
       {},
       flexible},
      {"section", V::object, false, "", "Cross-section of beams.", "section", {}, elastic},
      {"interfaces",
       V::object_map,
       false,
       "",
       "Where a flexible body is attached; frames of it move with the material at their place.",
       "interface",
       {},
       flexible},
      {"reduce", V::object, false, "", "Which shapes stand for its deformation.", "reduction", {}, flexible},
      {"reference",
       V::text,
       false,
       "",
       "What its frame moves with: `mean-axes` (the default: the deformation has no momentum against it, to first "
       "order: Buckens' frame, the linearisation of Tisserand's), `principal-axes` (the mass centre and the principal "
       "axes of inertia of the deformed body, to first order), one of its interfaces, or for superelements "
       "`boundary-mean` (the mean of the boundary nodes) or `boundary-mass` (no "
       "momentum of the boundary's share of the mass).",
       "",
       {},
       flexible},
      {"reference_nodes",
       V::points,
       false,
       "m",
       "Three points instead: the frame's origin moves with the node nearest to the first, its x axis towards the "
       "second, the third stays in the x-y plane (plane bodies: two points).",
       "",
       {},
       flexible},
      {"damping",
       V::object,
       false,
       "",
       "Damping of the deformation; none unless given. Beams: `beta` alone, the time by which stress follows the rate "
       "of strain (spatial cables: of stretch).",
       "body-damping",
       {},
       elastic},
      {"stiffening",
       V::boolean,
       false,
       "",
       "`true`: loads and fast rotation stiffen the body (geometric stiffness).",
       "",
       {},
       flexible},
      {"formulation",
       V::word,
       false,
       "",
       "`floating-frame` (the default): small deformation against a moving frame; `superelement`: boundary nodes "
       "that move freely in space, with a frame between them; `finite-elements`: like `floating-frame` with every "
       "freedom of the mesh (1500 at most), for reference.",
       "",
       {"floating-frame", "superelement", "finite-elements"},
       flexible},
      {"inertia_forces",
       V::word,
       false,
       "",
       "Superelements: `exact` (the default), those of the floating frame; `interpolated`: the shapes interpolate the "
       "velocities of the boundary nodes, which is cheaper but right only for a body that turns about a fixed axis.",
       "",
       {"exact", "interpolated"},
       flexible}};
}

}  // namespace clatter
