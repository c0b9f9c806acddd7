// The part of the language's table that is about beams and cables of large deformation.
#include "model/schema.hpp"

namespace clatter {

namespace {

using V = ValueType;

}  // namespace

std::vector<ObjectSpec> beam_language() {
  std::vector<ObjectSpec> all;
  all.push_back({"beam-curve",
                 "An axis that is curved at rest, as formulas of a parameter `s`.",
                 "",
                 {{"x", V::function, true, "m", "x as a formula of `s`."},
                  {"y", V::function, true, "m", "y as a formula of `s`."},
                  {"z", V::function, false, "m", "z as a formula of `s`; 0 unless given."},
                  {"from", V::quantity, true, "", "`s` at the start."},
                  {"to", V::quantity, true, "", "`s` at the end."}}});
  all.push_back({"beam-point",
                 "A place of a beam: on its axis, or beside it in its section.",
                 "where on the axis it is: `middle: 0.5`",
                 {{"at", V::quantity, true, "1", "Where on the axis: 0 is the start, 1 the end."},
                  {"y", V::quantity, false, "m",
                   "`ancf-beam`: beside the axis along y of the section, with which it moves and strains."},
                  {"z", V::quantity, false, "m", "The same along z; in space."}}});
  all.push_back({"section-stiffness",
                 "What a section resists, where it does not follow from `section` and `material`.",
                 "",
                 {{"axial", V::quantity, true, "N", "EA."},
                  {"shear", V::quantities, false, "N",
                   "k GA, or [along y, along z]; needed by `ancf-beam`, and cables have none."},
                  {"bending", V::quantities, true, "N*m^2", "EI, or [about y, about z]; in the plane about z."},
                  {"torsion", V::quantity, false, "N*m^2", "GJ; needed by `ancf-beam` in space."}}});
  all.push_back({"section-inertia",
                 "What a length of the beam weighs, where it does not follow from `section` and `material`.",
                 "",
                 {{"mass", V::quantity, true, "kg/m", "rho A."},
                  {"rotary", V::quantities, false, "kg*m",
                   "rho I, or [about y, about z]; needed by `ancf-beam`, and cables have none."}}});
  return all;
}

std::vector<KeySpec> beam_keys() {
  const std::vector<std::string> beam{"beam"};
  return {{"element",
           V::word,
           false,
           "",
           "`ancf-cable` (rigid in shear, without torsion) or `ancf-beam` (with shear, torsion and a section that "
           "gives).",
           "",
           {"ancf-cable", "ancf-beam"},
           beam},
          {"elements", V::quantity, false, "1", "Number of elements; required.", "", {}, beam},
          {"from",
           V::vector,
           false,
           "m",
           "Start of a straight axis, in the body's frame; [0, 0, 0] unless given.",
           "",
           {},
           beam},
          {"to", V::vector, false, "m", "End of a straight axis.", "", {}, beam},
          {"curve",
           V::object,
           false,
           "",
           "An axis that is curved at rest, instead of `from` and `to`.",
           "beam-curve",
           {},
           beam},
          {"section_stiffness",
           V::object,
           false,
           "",
           "Stiffness of the section, instead of its shape and material.",
           "section-stiffness",
           {},
           beam},
          {"section_inertia",
           V::object,
           false,
           "",
           "Inertia of the section, instead of its shape and material.",
           "section-inertia",
           {},
           beam},
          {"elastic_forces",
           V::word,
           false,
           "",
           "Planar `ancf-beam`: `structural` (the default: strains of the axis and the section) or `continuum` (a "
           "strained rectangle of the material).",
           "",
           {"structural", "continuum"},
           beam},
          {"integration",
           V::word,
           false,
           "",
           "`reduced` (the default) or `full`, which makes few elements much too stiff.",
           "",
           {"reduced", "full"},
           beam},
          {"points",
           V::object_map,
           false,
           "",
           "Named places of the beam, `BODY.POINT`. `start` and `end` of its axis are always there.",
           "beam-point",
           {},
           beam}};
}

}  // namespace clatter
