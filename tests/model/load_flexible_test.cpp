// Flexible bodies in model files: what is read, what is asked of the maker of reduced bodies, and what is said when
// something is wrong.
#include <gtest/gtest.h>

#include <numbers>

#include "model/flexible.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

const std::string head = "clatter: 1\nbodies:\n  rod:\n    type: flexible\n";
const std::string steel = "    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}\n";
const std::string box = "    mesh: {box: [1 m, 20 mm, 30 mm], elements: [40, 2, 3], order: quadratic}\n";

std::vector<Diagnostic> mistakes(const std::string& text, const LoadOptions& options = {}) {
  try {
    load_model_text(text, "folder/model.yaml", options);
  } catch (const InputError& e) {
    return e.diagnostics();
  }
  return {};
}

FlexibleSource source_of(const std::string& body) {
  const Model m = load_model_text(head + body, "folder/model.yaml");
  EXPECT_TRUE(m.bodies.at(0).flexible);
  return *m.bodies.at(0).flexible;
}

TEST(FlexibleBodyInAModel, IsReadWithMeshMaterialInterfacesAndReduction) {
  const FlexibleSource s = source_of(
      box + steel +
      "    interfaces:\n"
      "      top: x-\n"
      "      tip: {set: x+, coupling: rigid, at: [0.6, 0, 0]}\n"
      "      side: {plane: [[0, 10 mm, 0], [0, 11 mm, 0]], weights: equal}\n"
      "      corner: {node: [0.5, 10 mm, 15 mm]}\n"
      "      part: {box: [[0, 0, 0], [1, 1, 1]]}\n"
      "      ball: {sphere: [0, 0, 0], radius: 5 mm}\n"
      "    reduce: {method: modal, modes: 7, clamped: [top, tip], static_corrections: true, max_frequency: 2 kHz}\n"
      "    reference: tip\n"
      "    damping: {frequencies: [10 Hz, 100 Hz], ratios: [0.01, 0.02]}\n"
      "    stiffening: true\n"
      "    frames: {middle: [0, 0, 15 mm]}\n");
  EXPECT_EQ(s.mesh.kind, MeshDescription::Kind::box);
  EXPECT_DOUBLE_EQ(s.mesh.size.y(), 0.02);
  EXPECT_EQ(s.mesh.elements, (std::vector<int>{40, 2, 3}));
  EXPECT_TRUE(s.mesh.quadratic);
  ASSERT_EQ(s.materials.size(), 1U);
  EXPECT_DOUBLE_EQ(s.materials[0].young, 210e9);
  ASSERT_EQ(s.interfaces.size(), 6U);
  EXPECT_EQ(s.interfaces[0].nodes.set, "x-");
  EXPECT_EQ(s.interfaces[0].coupling, InterfaceDescription::Coupling::mean);
  EXPECT_EQ(s.interfaces[1].coupling, InterfaceDescription::Coupling::rigid);
  EXPECT_DOUBLE_EQ(s.interfaces[1].at->x(), 0.6);
  EXPECT_EQ(s.interfaces[2].nodes.kind, NodeSelection::Kind::plane);
  EXPECT_NEAR(s.interfaces[2].nodes.to.y(), 1e-3, 1e-15);
  EXPECT_EQ(s.interfaces[2].weights, InterfaceDescription::Weights::equal);
  EXPECT_EQ(s.interfaces[3].coupling, InterfaceDescription::Coupling::node);
  EXPECT_EQ(s.interfaces[5].nodes.radius, 0.005);
  EXPECT_EQ(s.reduction.method, ReductionDescription::Method::modal);
  EXPECT_EQ(s.reduction.modes, 7);
  EXPECT_EQ(s.reduction.clamped, (std::vector<std::string>{"top", "tip"}));
  EXPECT_DOUBLE_EQ(s.reduction.max_frequency, 2000);
  EXPECT_EQ(s.reference.interface, "tip");
  EXPECT_EQ(s.damping.kind, DampingDescription::Kind::ratios);
  EXPECT_DOUBLE_EQ(s.damping.frequency[1], 100);
  EXPECT_TRUE(s.stiffening);
  ASSERT_EQ(s.points.size(), 1U);
  EXPECT_EQ(s.points[0].name, "middle");
}

TEST(FlexibleBodyInAModel, FindsItsFilesBesideTheModelAndKnowsEveryKindOfMesh) {
  EXPECT_EQ(source_of("    mesh: rod.msh\n" + steel).mesh.file, "folder/rod.msh");
  const FlexibleSource file = source_of("    mesh: {file: /meshes/rod.inp, unit: mm, merge: true}\n" + steel);
  EXPECT_EQ(file.mesh.file, "/meshes/rod.inp");
  EXPECT_DOUBLE_EQ(file.mesh.unit, 1e-3);
  EXPECT_TRUE(file.mesh.merge);
  const FlexibleSource matrices = source_of("    mesh: {matrices: {stiffness: K.mtx, mass: M.mtx, nodes: n.txt}}\n");
  EXPECT_EQ(matrices.mesh.mass_file, "folder/M.mtx");
  const FlexibleSource spring =
      source_of("    mesh: {spring: {diameter: 15 mm, length: 14 mm, coils: 3.5}, elements: 20}\n" + steel +
                "    section: {circle: 2 mm, shear: false}\n");
  EXPECT_EQ(spring.mesh.kind, MeshDescription::Kind::spring);
  EXPECT_FALSE(spring.section.shear);
  const FlexibleSource gear = source_of(
      "    mesh: {gear: {teeth: 16, module: 4.5 mm, profile_shift: 0.196, tip_diameter: 82.64 mm, root_diameter: 62.5 "
      "mm, width: 15 mm, bore_diameter: 10 mm, rim_elements: 5}}\n" +
      steel + "    interfaces: {flanks: 'flank_*'}\n    formulation: superelement\n    reduce: {modes: 100}\n");
  EXPECT_EQ(gear.mesh.gear.teeth, 16);
  EXPECT_NEAR(gear.mesh.gear.pressure_angle, 20 * std::numbers::pi / 180, 1e-15);
  EXPECT_EQ(gear.mesh.gear_counts.rim, 5);
  EXPECT_EQ(gear.formulation, FlexibleSource::Formulation::superelement);
  for (const char* mesh :
       {"{cylinder: {radius: 1 cm, length: 1 m}}", "{tube: {radius: 2 cm, inner_radius: 1 cm, length: 1 m}}",
        "{extrusion: [[0, 0], [1, 0], [0, 1]], thickness: 0.1, element_size: 0.2}", "{disk: 0.5}",
        "{rectangle: [1, 0.5], thickness: 1 cm, plane: strain}",
        "{polygon: [[0, 0], [1, 0], [0, 1]], element_size: 0.2}", "{block: [1, 0.5]}"})
    source_of("    mesh: " + std::string(mesh) + "\n" + steel);
  const Model plane = load_model_text(head + "    mesh: {disk: 0.5}\n" + steel, "m");
  EXPECT_EQ(plane.bodies[0].kind, BodyKind::planar_flexible);
  const FlexibleSource wood = source_of(box +
                                        "    material: {density: 500 kg/m^3, moduli: [12 GPa, 1 GPa, 0.6 GPa], "
                                        "shear_moduli: [0.7 GPa, 0.1 GPa, 0.7 GPa], ratios: [0.4, 0.4, 0.3]}\n");
  EXPECT_TRUE(wood.materials[0].orthotropic);
}

TEST(FlexibleBodyInAModel, ChoosesFormulationFrameAndInertia) {
  const auto body_of = [](const std::string& text) {
    return load_model_text(head + box + steel + "    interfaces: {foot: x-, tip: x+}\n" + text, "m").bodies[0];
  };
  using F = FlexibleSource::Formulation;
  using Frame = SuperelementOptions::Frame;
  const Body mesh = body_of("    formulation: finite-elements\n    reference: tip\n");
  EXPECT_EQ(mesh.flexible->formulation, F::finite_elements);
  EXPECT_EQ(mesh.flexible->reduction.method, ReductionDescription::Method::all);
  EXPECT_EQ(mesh.flexible->reference.interface, "tip");
  const std::string super = "    formulation: superelement\n";
  EXPECT_EQ(body_of(super).superelement.frame, Frame::full_momentum);
  EXPECT_TRUE(body_of(super).superelement.exact_inertia);
  EXPECT_EQ(body_of(super + "    reference: boundary-mean\n").superelement.frame, Frame::weighted_mean);
  EXPECT_EQ(body_of(super + "    reference: boundary-mass\n").superelement.frame, Frame::boundary_mass);
  const Body node = body_of(super + "    reference: foot\n    inertia_forces: interpolated\n");
  EXPECT_EQ(node.superelement.frame, Frame::node);
  EXPECT_EQ(node.superelement.node, "foot");
  EXPECT_FALSE(node.superelement.exact_inertia);
  EXPECT_EQ(node.flexible->reference.kind, ReferenceDescription::Kind::mean_axes);
}

struct Case {
  std::string body, message, hint;
};

TEST(FlexibleBodyInAModel, SaysWhatIsWrong) {
  const std::vector<Case> cases = {
      {box, "`material` is missing in body `rod`", "density"},
      {steel, "`mesh` is missing in body `rod`", "a file"},
      {box + steel + "    mass: 1 kg\n", "`mass`", ""},
      {box + steel + "    reduce: craig-bamton\n", "craig-bamton", "craig-bampton"},
      {box + steel + "    reduce: {method: modl}\n", "modl", "modal"},
      {box + steel + "    reduce: {modes: 2.5}\n", "whole number", ""},
      {box + steel + "    interfaces: {tip: x+}\n    reference: tipp\n", "no interface `tipp`", "did you mean `tip`?"},
      {box + steel + "    interfaces: {tip: {set: x+, node: [0, 0, 0]}}\n", "exclude", ""},
      {box + "    material: {density: 7800 kg/m^3}\n", "`young` is missing", "210 GPa"},
      {box + "    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.5}\n", "Poisson's ratio", ""},
      {box + "    material: {density: 7800 kg/m^3, young: 210 m}\n", "expected a pressure", ""},
      {"    mesh: {box: [1, 1]}\n" + steel, "", ""},
      {"    mesh: {beam: 1 m}\n" + steel, "`section` is missing", "cross-section"},
      {"    mesh: {bocks: [1, 1, 1]}\n" + steel, "needs one of", "`box`"},
      {"    mesh: {box: [1, 1, 1], elements: [0, 1, 1]}\n" + steel, "whole numbers from 1", ""},
      {box + steel + "    damping: -0.1\n", "cannot be negative", ""},
      {box + steel + "    formulation: finite-element\n", "finite-element", "finite-elements"},
      {box + steel + "    formulation: finite-elements\n    reduce: modal\n", "nothing to reduce",
       "leave `reduce` out"},
      {"    mesh: rod.sid\n" + steel, "standard input data", "leave it out"},
      {"    mesh: rod.sid\n    frames: {tip: [1, 0, 0]}\n", "standard input data", "nodes of the data"},
      {box + steel + "    inertia_forces: exact\n", "only a superelement", "superelement"},
      {box + steel + "    interfaces: {tip: x+}\n    reference: boundary-mean\n", "no interface `boundary-mean`", ""},
      {box + steel + "    interfaces: {tip: x+}\n    formulation: superelement\n    reference: boundary-men\n",
       "no interface `boundary-men`", "did you mean `boundary-mean`?"},
      {box + steel + "    formulation: superelement\n    reference_nodes: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\n",
       "held by its boundary nodes", "boundary-mean"},
  };
  for (const Case& c : cases) {
    const auto d = mistakes(head + c.body);
    ASSERT_FALSE(d.empty()) << c.body;
    EXPECT_NE(d[0].message.find(c.message), std::string::npos) << c.body << "\n" << d[0].message;
    EXPECT_NE((d[0].hint + d[0].message).find(c.hint), std::string::npos) << c.body << "\n" << d[0].hint;
    EXPECT_GT(d[0].source.line, 0);
  }
  const auto rigid = mistakes("clatter: 1\nbodies:\n  a: {mass: 1 kg, inertia: [1, 1, 1], mesh: a.msh}\n");
  ASSERT_FALSE(rigid.empty());
  EXPECT_NE(rigid[0].hint.find("flexible"), std::string::npos) << rigid[0].message << rigid[0].hint;
}

TEST(FlexibleBodyInAModel, GetsTheFramesOfItsMarkersBeforeJointsNameThem) {
  LoadOptions o;
  int calls = 0;
  o.make_flexible = [&](const FlexibleSource& s, const std::string& body) {
    ++calls;
    EXPECT_EQ(body, "rod");
    EXPECT_EQ(s.points.size(), 1U);
    FlexibleMade made;
    FrameDef tip;
    tip.name = "tip";
    tip.placement.position = Vec3(0.5, 0, 0);
    made.markers = {tip};
    return made;
  };
  const Model m = load_model_text(head + box + steel +
                                      "    interfaces: {tip: x+}\n    frames: {p: [0.1, 0, 0]}\njoints:\n  j: {type: "
                                      "fixed, between: [ground, rod.tip]}\n",
                                  "m", o);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(m.joints.size(), 1U);
  EXPECT_EQ(m.joints[0].b.marker, "tip");
  EXPECT_DOUBLE_EQ(m.joints[0].b.placement.position.x(), 0.5);
  // What the maker finds wrong is told at the body, or where the description points.
  o.make_flexible = [](const FlexibleSource& s, const std::string&) -> FlexibleMade {
    throw InputError(s.interfaces[0].source, "the mesh has no set `x+`", "its sets: a, b");
  };
  auto d = mistakes(head + box + steel + "    interfaces:\n      tip: x+\n", o);
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d[0].source.line, 8);
  EXPECT_EQ(d[0].message, "body `rod`: the mesh has no set `x+`");
  o.make_flexible = [](const FlexibleSource&, const std::string&) -> FlexibleMade {
    throw InputError(Source{"rod.msh", 17, 1}, "expected a number");
  };
  d = mistakes(head + box + steel, o);
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d[0].source.line, 3);
  EXPECT_EQ(d[0].message, "body `rod`: rod.msh:17: expected a number");
}

}  // namespace
}  // namespace clatter
