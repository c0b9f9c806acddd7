// Every mistake is reported where it was made: exact line and column, what was expected, the nearest valid word.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

struct Expected {
  const char* name;
  const char* text;
  int line, column;
  const char* message;
  const char* hint;
};

void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }

struct Mistake : testing::TestWithParam<Expected> {};

TEST_P(Mistake, IsReportedAtItsPlace) {
  const Expected& e = GetParam();
  try {
    load_model_text(e.text, "m.yaml");
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u) << error.what();
    const Diagnostic& d = error.diagnostics()[0];
    EXPECT_EQ(d.source.line, e.line) << error.what();
    EXPECT_EQ(d.source.column, e.column) << error.what();
    EXPECT_EQ(d.message, e.message);
    EXPECT_EQ(d.hint, e.hint);
    EXPECT_EQ(d.source.file, "m.yaml");
  }
}

#define ROD "bodies:\n  rod: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0], frames: {tip: [1, 0, 0]}}\n"
#define FLAT "bodies:\n  rod: {type: planar, mass: 1 kg, inertia: 1, position: [0, 0]}\n"

INSTANTIATE_TEST_SUITE_P(
    Files, Mistake,
    testing::Values(
        Expected{"Empty", "", 1, 1, "this file is empty", "a model file begins with `clatter: 1`"},
        Expected{"OnlyComment", "# nothing\n", 1, 1, "this file is empty", "a model file begins with `clatter: 1`"},
        Expected{"NoVersion", "title: x\n", 1, 1, "`clatter` is missing in the model", ""},
        Expected{"WrongVersion", "clatter: 2\n", 1, 10, "the version of the model language must be 1: `clatter: 1`",
                 ""},
        Expected{"NotAMap", "- 1\n", 1, 1, "the model must be a map of keys, this is a list", "it needs `clatter`"},
        Expected{"NotUtf8", "clatter: 1\ntitle: a\xff\n", 2, 9,
                 "byte 0xff does not belong here: a model file is UTF-8 text", ""},
        Expected{"NotYaml", "clatter: 1\nbodies: [1, 2\n", 3, 1, "this is not YAML: end of sequence flow not found",
                 ""},
        Expected{"SecondDocument", "clatter: 1\n---\nclatter: 1\n", 3, 1,
                 "a model file holds one document; a second begins here", ""},
        Expected{"Tag", "clatter: 1\ntitle: !!str x\n", 2, 8, "tags are not used in model files",
                 "remove `tag:yaml.org,2002:str`"},
        Expected{"UnknownKey", "clatter: 1\nbodis: {}\n", 2, 1, "unknown key `bodis` in the model",
                 "did you mean `bodies`?"},
        Expected{"DuplicateKey", "clatter: 1\ntitle: a\ntitle: b\n", 3, 1, "`title` is given twice, first in line 2",
                 ""}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, Mistake,
    testing::Values(Expected{"WrongDimension", "clatter: 1\nsimulate:\n  end: 15 mm\n", 3, 8,
                             "expected a time, got a length (15 mm)", ""},
                    Expected{"AngleForLength", "clatter: 1\nframes:\n  a: [20 deg, 0, 0]\n", 3, 7,
                             "expected a length, got an angle (20 deg)", ""},
                    Expected{"DimensionOfParameter", "clatter: 1\nparameters: {T: 15 ms}\nframes:\n  a: [0, T, 0]\n", 4,
                             10, "expected a length, got a time (T)", ""},
                    Expected{"NotFinite", "clatter: 1\nsimulate: {end: .inf}\n", 2, 17,
                             "a finite number was expected, not `.inf`", ""},
                    Expected{"TooLarge", "clatter: 1\nsimulate: {end: 1e400}\n", 2, 17, "this number is too large", ""},
                    Expected{"ListForNumber", "clatter: 1\nsimulate: {end: [1]}\n", 2, 17,
                             "a number was expected, this is a list", ""},
                    Expected{"UnknownName", "clatter: 1\nparameters: {length: 1 m}\nsimulate: {end: 2*lenght}\n", 3, 19,
                             "unknown name `lenght`", "did you mean `length`?"},
                    Expected{"UnitAlone", "clatter: 1\nsimulate: {end: 2*kHz}\n", 2, 19, "unknown name `kHz`",
                             "`kHz` is a unit: it follows a number without an operator, as in 3 kHz"},
                    Expected{"TimeInConstant", "clatter: 1\nsimulate: {end: 2*t}\n", 2, 19,
                             "this must be a constant; it cannot depend on the time `t`", ""},
                    Expected{"InsideQuotes", "clatter: 1\nsimulate: {end: \"1 + \"}\n", 2, 22,
                             "the expression ends too early", ""},
                    Expected{"Vector", "clatter: 1\ngravity: 9.81\n", 2, 10,
                             "a vector [x, y, z] was expected, this is a value", ""},
                    Expected{"VectorOfFour", "clatter: 1\ngravity: [1, 2, 3, 4]\n", 2, 10,
                             "a vector [x, y, z] was expected, this is a list of 4", ""},
                    Expected{"Boolean", "clatter: 1\ninitial: {adjust_positions: maybe}\n", 2, 29,
                             "`true` or `false` was expected, this is `maybe`", ""},
                    Expected{"Word", "clatter: 1\ncoordinates: joints\n", 2, 14,
                             "`joints` is not a kind of coordinates", "did you mean `joint`?"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, Mistake,
    testing::Values(Expected{"Cycle", "clatter: 1\nparameters:\n  a: b + 1\n  b: 2*c\n  c: a\n", 5, 6,
                             "parameter `a` depends on itself", "cycle: a -> b -> c -> a"},
                    Expected{"ItsOwn", "clatter: 1\nparameters: {a: a + 1}\n", 2, 17, "parameter `a` depends on itself",
                             "cycle: a -> a"},
                    Expected{"Reserved", "clatter: 1\nparameters: {t: 1}\n", 2, 14,
                             "`t` has a meaning of its own and cannot name a parameter", ""},
                    Expected{"NotAName", "clatter: 1\nparameters: {my-rod: 1}\n", 2, 14,
                             "`my-rod` is not a name for a parameter: letters, digits and _ only, a letter first",
                             "for example `my_rod`"},
                    Expected{"Sum", "clatter: 1\nparameters: {a: 1 m, b: a + 1 s}\n", 2, 27,
                             "these cannot be added: a length and a time", ""},
                    Expected{"NoValue", "clatter: 1\nparameters:\n  a:\n", 3, 3, "parameter `a` has no value", ""}));

INSTANTIATE_TEST_SUITE_P(
    Bodies, Mistake,
    testing::Values(
        Expected{"MissingMass", "clatter: 1\nbodies:\n  rod:\n    inertia: [1, 1, 1]\n", 4, 5,
                 "`mass` is missing in body `rod`", "or give a `shape` and its `density`"},
        Expected{"MissingInertia", "clatter: 1\nbodies:\n  rod: {mass: 1}\n", 3, 8,
                 "`inertia` is missing in body `rod`", "or give a `shape`; a mass point is of type `particle`"},
        Expected{"ZeroMass", "clatter: 1\nbodies:\n  rod: {mass: 0, inertia: [1, 1, 1]}\n", 3, 15,
                 "`mass` of body `rod` must be positive, this is 0", ""},
        Expected{"Indefinite", "clatter: 1\nbodies:\n  rod: {mass: 1, inertia: [1, 1, -1]}\n", 3, 27,
                 "the inertia of body `rod` is indefinite: principal moments -1, 1, 1",
                 "a moment of inertia cannot be negative"},
        Expected{"Triangle", "clatter: 1\nbodies:\n  rod: {mass: 1, inertia: [1, 1, 3]}\n", 3, 27,
                 "no body has this inertia: of its principal moments 1, 1, 3 the largest exceeds the sum of the others",
                 ""},
        Expected{"NotSymmetric",
                 "clatter: 1\nbodies:\n  rod: {mass: 1, inertia: [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}\n", 3, 27,
                 "the inertia of body `rod` is not symmetric", ""},
        Expected{"ZeroInertia", "clatter: 1\nbodies:\n  rod: {mass: 1, inertia: [0, 0, 0]}\n", 3, 27,
                 "the inertia of body `rod` is zero", "a mass point is of type `particle`"},
        Expected{"UnknownBodyKey", "clatter: 1\nbodies:\n  rod: {mas: 1, mass: 1, inertia: [1, 1, 1]}\n", 3, 9,
                 "unknown key `mas` in body `rod`", "did you mean `mass`?"},
        Expected{"BodyType", "clatter: 1\nbodies:\n  rod: {type: rigit, mass: 1, inertia: [1, 1, 1]}\n", 3, 15,
                 "`rigit` is not a valid `type` of body `rod`", "did you mean `rigid`?"},
        Expected{
            "NameTwice",
            "clatter: 1\nbodies:\n  a: {type: particle, mass: 1}\njoints:\n  a: {type: fixed, between: [ground, a]}\n",
            5, 3, "the name `a` is already taken", "first used in m.yaml:3:3"},
        Expected{"SameBodyTwice",
                 "clatter: 1\nbodies:\n  a: {type: particle, mass: 1}\n  a: {type: particle, mass: 1}\n", 4, 3,
                 "`a` is given twice, first in line 3", ""},
        Expected{"PlanarOutOfPlane",
                 "clatter: 1\nbodies:\n  a: {type: planar, mass: 1, inertia: 1, position: [0, 0, 1]}\n", 3, 42,
                 "planar body `a`: its position leaves the x-y plane", ""},
        Expected{"PlanarTurned",
                 "clatter: 1\nbodies:\n  a: {type: planar, mass: 1, inertia: 1, orientation: {axis: x, angle: 1}}\n", 3,
                 42, "planar body `a`: it can only be turned about z", ""},
        Expected{"ParticleInertia", "clatter: 1\nbodies:\n  a: {type: particle, mass: 1, inertia: 1}\n", 3, 32,
                 "a particle has no inertia", "use type `rigid`, or `planar` in the plane"},
        Expected{"FrameNamedLikeQuantity",
                 "clatter: 1\nbodies:\n  a: {type: particle, mass: 1, frames: {position: [0, 0, 1]}}\n", 3, 41,
                 "`position` is the name of a quantity and cannot name a frame", ""},
        Expected{"TwoRotations",
                 "clatter: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], orientation: {kardan: [0, 0, 1], euler: [0, "
                 "0, 1]}}\n",
                 3, 69, "`kardan` and `euler` exclude each other in the orientation", ""},
        Expected{"NotARotation", "clatter: 1\nframes:\n  a: {rotate: {matrix: [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}}\n", 3,
                 24, "this is not a rotation matrix: its columns must be orthogonal unit vectors, right-handed", ""},
        Expected{"MassAndDensity", "clatter: 1\nbodies:\n  a: {mass: 1, density: 1, shape: {sphere: 1}}\n", 3, 16,
                 "`mass` and `density` exclude each other in body `a`", ""},
        Expected{"Overflow",
                 "clatter: 1\nassemblies: {a: {bodies: {p: {type: particle, mass: 1, position: [1e308, 0, "
                 "0]}}}}\ninstances: {i: {of: a, at: [1e308, 0, 0]}}\n",
                 2, 27, "the numbers of `i.p` are too large to compute with", ""},
        Expected{"NegativeRadius", "clatter: 1\nbodies:\n  a: {mass: 1, shape: {sphere: -1}}\n", 3, 32,
                 "`sphere` of the shape of body `a` must be positive, this is -1", ""}));

INSTANTIATE_TEST_SUITE_P(
    Joints, Mistake,
    testing::Values(
        Expected{"MissingReference", "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rid]}\n", 5,
                 41, "there is no body or frame `rid`", "did you mean `rod`?"},
        Expected{"MissingFrame", "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod.tpi]}\n", 5,
                 41, "body `rod` has no frame `tpi`", "did you mean `tip`?"},
        Expected{"MissingGroundFrame",
                 "clatter: 1\nframes: {pivot: [0, 0, 0]}\n" ROD
                 "joints:\n  p: {type: revolute, between: [ground.pivto, rod]}\n",
                 6, 33, "there is no body or frame `ground.pivto`", "did you mean `ground.pivot`?"},
        Expected{"ToItself", "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [rod, rod.tip]}\n", 5, 32,
                 "joint `p` ties `rod` to itself", ""},
        Expected{"GroundToGround", "clatter: 1\njoints:\n  p: {type: fixed, between: [ground, ground]}\n", 3, 29,
                 "joint `p` ties ground to itself", ""},
        Expected{"Type", "clatter: 1\n" ROD "joints:\n  p: {type: revolut, between: [ground, rod]}\n", 5, 13,
                 "`revolut` is not a valid `type` of joint `p`", "did you mean `revolute`?"},
        Expected{"NoType", "clatter: 1\n" ROD "joints:\n  p: {between: [ground, rod]}\n", 5, 6,
                 "`type` is missing in joint `p`", ""},
        Expected{"ZeroAxis",
                 "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod], axis: [0, 0, 0]}\n", 5, 53,
                 "an axis of length zero has no direction", ""},
        Expected{"MissingAxis",
                 "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod], at: [0, 0, 0]}\n", 5, 6,
                 "`axis` is missing in joint `p`", "a direction: x, y, z or [x, y, z]"},
        Expected{"NoPose",
                 "clatter: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\njoints:\n  p: {type: revolute, between: "
                 "[ground, a], at: [0, 0, 0], axis: z}\n",
                 5, 41, "body `a` has no position, which a joint given by a point `at` needs",
                 "give its `position`, or name frames in `between`"},
        Expected{"FrameAndPoint",
                 "clatter: 1\n" ROD
                 "joints:\n  p: {type: revolute, between: [ground, rod.tip], at: [0, 0, 0], axis: z}\n",
                 5, 41, "`rod.tip` is a frame, but joint `p` is given by a point `at`",
                 "name the bodies only, or leave out `at`"},
        Expected{"KeyOfAnotherType",
                 "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod], pitch: 1}\n", 5, 47,
                 "`pitch` has no meaning for joint `p` of type `revolute`", "`pitch` belongs to: screw"},
        Expected{"PlanarMismatch", "clatter: 1\n" FLAT "joints:\n  p: {type: spherical, between: [ground, rod]}\n", 5,
                 7, "a `spherical` joint is for spatial bodies; `rod` is planar",
                 "in the plane: revolute, prismatic, fixed, distance, point-on-curve, bushing, slip"},
        Expected{"PlanarAxis",
                 "clatter: 1\n" FLAT "joints:\n  p: {type: revolute, between: [ground, rod], at: [0, 0], axis: x}\n", 5,
                 59, "planar body `rod` can only rotate about z", ""},
        Expected{"PlanarSlide",
                 "clatter: 1\n" FLAT "joints:\n  p: {type: prismatic, between: [ground, rod], axis: z}\n", 5, 48,
                 "planar body `rod` can only slide in the x-y plane", "give the direction in the plane: `axis: x`"},
        Expected{"DriveDimension",
                 "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod], drive: t}\n", 5, 54,
                 "expected an angle, got a time (t)",
                 "give `t` a coefficient: with its unit, 2 rad/s*t, or a bare number, 1*t"},
        Expected{"DriveQuantity",
                 "clatter: 1\n" ROD "joints:\n  p: {type: revolute, between: [ground, rod], drive: rod.position.x}\n",
                 5, 54, "`rod.position.x` cannot be used here",
                 "this may depend on the time `t` and on parameters only"},
        Expected{"Component",
                 "clatter: 1\n" ROD "joints:\n  p: {type: bushing, between: [ground, rod], components: {q: free}}\n", 5,
                 59, "joint `p` has no component `q`", "components: x y z rx ry rz"},
        Expected{"GearJoint",
                 "clatter: 1\n" ROD "joints:\n  pin: {type: revolute, between: [ground, rod]}\n  g: {type: gear, "
                 "ratio: 2, joints: [pin, pim]}\n",
                 6, 43, "there is no joint `pim`", "did you mean `pin`?"},
        Expected{"UniversalAxes",
                 "clatter: 1\n" ROD
                 "joints:\n  p: {type: universal, between: [ground, rod], at: [0, 0, 0], axis: z, axis2: [1, 0, 1]}\n",
                 5, 72, "the two axes of a universal joint must be perpendicular", ""}));

INSTANTIATE_TEST_SUITE_P(
    Forces, Mistake,
    testing::Values(
        Expected{"ForceDimension",
                 "clatter: 1\n" ROD "forces:\n  f: {type: force, on: rod, components: [1 N, 2 N*m, 0]}\n", 5, 47,
                 "expected a force, got a torque or energy (2 N*m)", ""},
        Expected{"UnknownQuantity",
                 "clatter: 1\n" ROD "forces:\n  f: {type: force, on: rod, components: [1, -3*rd.velocity.x, 0]}\n", 5,
                 48, "there is nothing named `rd` for the quantity `rd.velocity.x`", "did you mean `rod`?"},
        Expected{"SpringWithoutLaw",
                 "clatter: 1\n" ROD "forces:\n  f: {type: spring-damper, between: [ground, rod.tip]}\n", 5, 6,
                 "force `f` needs one of `stiffness`, `damping`, `table`, `formula`", ""},
        Expected{"TableOrder",
                 "clatter: 1\n" ROD
                 "forces:\n  f: {type: spring-damper, between: [ground, rod.tip], table: [[1, 0], [1, 2]]}\n",
                 5, 73, "the deformations of a table must increase", ""},
        Expected{"TwoLaws",
                 "clatter: 1\n" ROD
                 "forces:\n  f: {type: spring-damper, between: [ground, rod.tip], stiffness: 1, formula: e}\n",
                 5, 70, "`stiffness` and `formula` exclude each other in force `f`", ""},
        Expected{"PlayUpsideDown",
                 "clatter: 1\n" ROD
                 "forces:\n  f: {type: play, between: [ground, rod], lower: 1, upper: 0, stiffness: 1}\n",
                 5, 53, "`upper` (0) lies below `lower` (1)", ""},
        Expected{"Gravity", "clatter: 1\nforces:\n  g: {type: gravity}\n", 3, 13,
                 "`gravity` is not a valid `type` of force `g`",
                 "one of: force torque pressure spring-damper torsion-spring play actuator"},
        Expected{"FormulaParameter",
                 "clatter: 1\nparameters: {e: 1}\n" ROD
                 "forces:\n  f: {type: spring-damper, between: [ground, rod.tip], formula: 3*e}\n",
                 6, 67, "`e` has a meaning of its own here and is also a parameter",
                 "give the parameter another name"}));

INSTANTIATE_TEST_SUITE_P(
    Study, Mistake,
    testing::Values(
        Expected{"EndBeforeStart", "clatter: 1\nsimulate: {start: 2, end: 1}\n", 2, 22,
                 "`end` (1 s) must lie after `start` (2 s)", ""},
        Expected{"ZeroStep", "clatter: 1\nsimulate: {step: 0}\n", 2, 18,
                 "`step` of `simulate` must be positive, this is 0", ""},
        Expected{"FixedStep", "clatter: 1\nsimulate: {method: rk4}\n", 2, 11, "`step` is missing in `simulate`",
                 "this method has a fixed step"},
        Expected{"Method", "clatter: 1\nsimulate: {method: radau}\n", 2, 20,
                 "`radau` is not a valid `method` of `simulate`", "did you mean `radau5`?"},
        Expected{"Gamma", "clatter: 1\nsimulate: {method: newmark, step: 1 ms, gamma: 0.3}\n", 2, 48,
                 "`gamma` lies between 0.5 and 1, this is 0.3: below 0.5 vibrations grow", ""},
        Expected{"Alpha", "clatter: 1\nsimulate: {alpha: -0.1}\n", 2, 19, "`alpha` goes with the method hht", ""},
        Expected{"Rho", "clatter: 1\nsimulate: {rho_infinity: 2}\n", 2, 26,
                 "`rho_infinity` lies between 0 and 1, this is 2", ""},
        Expected{"Output", "clatter: 1\n" ROD "outputs:\n  - rodd.position\n", 5, 5,
                 "there is nothing named `rodd` for the quantity `rodd.position`", "did you mean `rod`?"},
        Expected{"CheckDimension",
                 "clatter: 1\n" ROD "checks:\n  - {quantity: rod.position.x, value: 1 s, tolerance: 1e-3}\n", 5, 39,
                 "expected a length, got a time (1 s)", ""},
        Expected{"CheckNoTolerance", "clatter: 1\n" ROD "checks:\n  - {quantity: rod.position.x, value: 1}\n", 5, 5,
                 "`tolerance` is missing in the check", "or `relative`"},
        Expected{"CheckAt",
                 "clatter: 1\n" ROD "checks:\n  - {quantity: rod.position.x, at: finale, value: 1, tolerance: 1}\n", 5,
                 36, "`finale` is not something to check at", "did you mean `final`?"},
        Expected{"RelativeZero",
                 "clatter: 1\n" ROD "checks:\n  - {quantity: rod.position.x, value: 0, relative: 1e-3}\n", 5, 52,
                 "a relative tolerance of the value 0 allows nothing", "give an absolute `tolerance`"},
        Expected{"Keep", "clatter: 1\n" ROD "initial: {keep: [rid]}\n", 4, 18, "there is no body or joint `rid`",
                 "did you mean `rod`?"}));

INSTANTIATE_TEST_SUITE_P(
    Assemblies, Mistake,
    testing::Values(
        Expected{"Unknown", "clatter: 1\nassemblies: {arm: {}}\ninstances:\n  a: {of: amr}\n", 4, 11,
                 "there is no assembly `amr`", "did you mean `arm`?"},
        Expected{"ContainsItself",
                 "clatter: 1\nassemblies:\n  arm: {instances: {b: {of: leg}}}\n  leg: {instances: {c: {of: "
                 "arm}}}\ninstances:\n  a: {of: arm}\n",
                 4, 29, "assembly `arm` contains itself", "cycle: arm -> leg -> arm"},
        Expected{"Parameter",
                 "clatter: 1\nassemblies: {arm: {parameters: {length: 1 m}}}\ninstances:\n  a: {of: arm, "
                 "parameters: {lenght: 2 m}}\n",
                 4, 29, "assembly `arm` has no parameter `lenght`", "did you mean `length`?"},
        Expected{"ParameterNotGiven",
                 "clatter: 1\nassemblies: {arm: {parameters: {length: }}}\ninstances:\n  a: {of: arm}\n", 2, 33,
                 "parameter `length` has no default and is not given by instance `a`", ""},
        Expected{"ParameterDimension",
                 "clatter: 1\nassemblies: {arm: {parameters: {length: 1 m}}}\ninstances:\n  a: {of: arm, "
                 "parameters: {length: 2 s}}\n",
                 2, 33, "parameter `length` is a length, but is given a time", ""},
        Expected{"RepeatNotWhole", "clatter: 1\nassemblies: {arm: {}}\ninstances:\n  a: {of: arm, repeat: {i: 2.5}}\n",
                 4, 25, "i of `repeat` of instance `a` must be a whole number, at least 1", ""},
        Expected{"RepeatTooMany",
                 "clatter: 1\nassemblies: {arm: {}}\ninstances:\n  a: {of: arm, repeat: {i: 5000, j: 5000}}\n", 4, 24,
                 "`repeat` of instance `a` makes more than 1000000 copies", ""},
        Expected{"RepeatTakesAName",
                 "clatter: 1\nassemblies: {arm: {}}\ninstances:\n  a_2: {of: arm}\n  a: {of: arm, repeat: {i: 3}}\n", 5,
                 24, "the name `a_2` of a copy is already taken", "first used in m.yaml:4:3"},
        Expected{"UnknownKeyInDefinition", "clatter: 1\nassemblies: {arm: {bodis: {}}}\n", 2, 20,
                 "unknown key `bodis` in assembly `arm`", "did you mean `bodies`?"}));

TEST(Mistakes, AreCollectedInTheOrderOfTheFile) {
  try {
    load_model_text("clatter: 1\ntitel: x\nsimulate: {end: -1}\nbodies:\n  a: {mass: 0, inertia: [1, 1, 1]}\n",
                    "m.yaml");
    FAIL();
  } catch (const InputError& e) {
    ASSERT_EQ(e.diagnostics().size(), 3u);
    EXPECT_EQ(e.diagnostics()[0].source.line, 2);
    EXPECT_EQ(e.diagnostics()[1].source.line, 3);
    EXPECT_EQ(e.diagnostics()[2].source.line, 5);
  }
}

TEST(Mistakes, StopAtTwenty) {
  std::string text = "clatter: 1\n";
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": 1\n";
  try {
    load_model_text(text);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().size(), 20u);
  }
}

TEST(Mistakes, AreShownWithTheirLineAndACaret) {
  try {
    load_model_text("clatter: 1\nsimulate: {end: 15 mm}\n", "dir/m.yaml");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "dir/m.yaml:2:17: expected a time, got a length (15 mm)\n"
                 "    simulate: {end: 15 mm}\n"
                 "                    ^");
  }
}

TEST(Mistakes, AreBoundedForHostileFiles) {
  EXPECT_THROW(load_model_text("a: " + std::string(100000, '[')), InputError);
  std::string bomb = "clatter: 1\nx0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*x" + std::to_string(i - 1), me = std::to_string(i);
    bomb += "x" + me + ": &x" + me + " [";
    for (int k = 0; k < 9; ++k) bomb += last + ", ";
    bomb += last + "]\n";
  }
  EXPECT_THROW(load_model_text(bomb), InputError);
  // Ten instances of ten instances of ...: a million million bodies.
  std::string nested = "clatter: 1\nassemblies:\n  a0: {bodies: {p: {type: particle, mass: 1}}}\n";
  for (int i = 1; i < 12; ++i) {
    nested += "  a" + std::to_string(i) + ": {instances: {";
    for (int k = 0; k < 10; ++k) nested += "i" + std::to_string(k) + ": {of: a" + std::to_string(i - 1) + "}, ";
    nested += "}}\n";
  }
  LoadOptions options;
  options.max_objects = 10000;
  EXPECT_THROW(load_model_text(nested + "instances: {top: {of: a11}}\n", "m", options), InputError);
  EXPECT_THROW(load_model_text(std::string("clatter: 1\0", 11)), InputError);
  EXPECT_THROW(load_model_text("clatter: &a [*a]\n"), InputError);
}

// A model may be foreign, and its messages are shown to others: nothing of a file that is no model appears in them.
TEST(Mistakes, ShowNothingOfIncludedFilesThatAreNoModels) {
  for (const char* secret : {"root:x:0:0:hash\n", "key: [hash\n", "\thash: {", "hash", "- clatter: hash\n"}) {
    LoadOptions options;
    options.read_file = [&](const std::string&) -> std::optional<std::string> { return secret; };
    try {
      load_model_text("clatter: 1\ninclude: /etc/secret\n", "m.yaml", options);
      FAIL() << secret;
    } catch (const InputError& e) {
      const std::string shown = e.what();
      EXPECT_EQ(shown.find("hash"), std::string::npos) << shown;
      EXPECT_EQ(e.diagnostics().front().message, "the included file `/etc/secret` is not a model file");
      EXPECT_EQ(e.diagnostics().front().source.line, 2);
    }
  }
}

// A place on a body that is wrong itself is not told again, and nobody may take it for one that is there: this read
// before the first body.
TEST(Mistakes, OfABeamAreNotRepeatedByWhatHangsOnIt) {
  for (const char* joint :
       {"{type: spherical, between: [ground, arm.start]}", "{type: universal, between: [arm.start, ground]}",
        "{type: revolute, between: [arm.start, arm.end], axis: x}"}) {
    try {
      load_model_text(std::string("clatter: 1\nbodies:\n  arm: {type: beam}\njoints:\n  ball: ") + joint + "\n",
                      "m.yaml");
      FAIL() << joint;
    } catch (const InputError& e) {
      for (const Diagnostic& d : e.diagnostics()) EXPECT_EQ(d.source.line, 3) << e.what();
    }
  }
}

}  // namespace
}  // namespace clatter
