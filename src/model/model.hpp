// The Model: what the user wrote, after units, parameters, expressions, includes and assemblies are resolved.
//
// Plain named values with their source positions; nothing here knows how anything is solved. The loader
// (`load.hpp`) makes a Model from YAML; a program may also fill one in by hand. The engine's `compile`
// turns it into a System.
//
// Conventions: SI units; all names are full names, an object inside an assembly `arm` is `arm.rod`;
// `ground` is the inertial body. A Placement maps coordinates of a child frame to its parent:
// x_parent = position + rotation * x_child.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/math.hpp"
#include "laws/law_value.hpp"

namespace clatter {

struct ReducedBody;  // what a flexible body owes to the equations of motion (model/reduced_body.hpp)
struct FlexibleSource;
struct BeamSource;  // a chain of beam or cable elements (model/beam.hpp)
struct CrowdModel;  // contacts of many bodies, whose pairs are made while it runs (model/crowd.hpp)
class Expression;   // a compiled formula: values and exact derivatives (model/expression.hpp)

struct Named {
  std::string name;
  Source source;
};

struct Placement {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();
  Placement operator*(const Placement& o) const { return {position + rotation * o.position, rotation * o.rotation}; }
  Placement inverse() const { return {rotation.conjugate() * -position, rotation.conjugate()}; }
};

// A scalar that may depend on time and on measured quantities of the moving model ("rod.tip.velocity.x", "pin.angle").
// `expression` takes its variables in the order of `inputs`; the name "t" is the time. No expression: `constant`.
struct Function {
  double constant = 0;
  std::shared_ptr<const Expression> expression;
  std::vector<std::string> inputs;
  Source source;
  bool is_constant() const { return expression == nullptr; }
};

// --- bodies --------------------------------------------------------------------------------------------------------

// What a body looks like; the engine ignores it, mass properties are already derived from it.
struct Shape {
  enum class Kind { none, box, sphere, cylinder, capsule, rod } kind = Kind::none;
  Vec3 size = Vec3::Zero();  // box: edges; sphere: radius; cylinder and capsule: radius, length (axis z)
  Placement placement;       // in the body's frame
};

// On a flexible body every frame is a marker of the same name of its ReducedBody; the placement is the undeformed one.
struct FrameDef : Named {
  Placement placement;  // in the body's frame
};

enum class BodyKind { rigid, planar, particle, planar_particle, flexible, planar_flexible, beam, planar_beam };

inline bool is_planar(BodyKind k) {
  return k == BodyKind::planar || k == BodyKind::planar_particle || k == BodyKind::planar_flexible ||
         k == BodyKind::planar_beam;
}
inline bool is_particle(BodyKind k) { return k == BodyKind::particle || k == BodyKind::planar_particle; }
inline bool is_flexible(BodyKind k) { return k == BodyKind::flexible || k == BodyKind::planar_flexible; }
inline bool is_beam(BodyKind k) { return k == BodyKind::beam || k == BodyKind::planar_beam; }
// Bodies whose frames are places of a deforming body, each moving by itself.
inline bool deforms(BodyKind k) { return is_flexible(k) || is_beam(k); }

// How a superelement, a flexible body with boundary nodes, is set up (V-9 to V-11).
struct SuperelementOptions {
  // What ties the reference frame to the body: no momentum of the deformation against it, of all of the body or of the
  // boundary's mass alone; one boundary node; the mean of the boundary nodes.
  enum class Frame { full_momentum, boundary_mass, node, weighted_mean } frame = Frame::full_momentum;
  std::string node = {};  // of Frame::node: name of a boundary node
  // Inertia of the floating frame (V-10), or of interpolated nodal velocities (V-9): cheaper, but internal modes then
  // feel Omega x V of the frame, so it is for bodies that turn about a fixed axis.
  bool exact_inertia = true;
};

struct Body : Named {
  BodyKind kind = BodyKind::rigid;
  double mass = 0;
  Mat3 inertia = Mat3::Zero();         // about the centre of mass, body axes; planar: only (2,2) is used
  Vec3 center_of_mass = Vec3::Zero();  // in the body's frame
  // Pose and velocity of the body's frame at the start; without a pose the body is placed by its joints, and where
  // nothing places it, in the origin of its assembly.
  std::optional<Placement> pose;
  Placement origin;
  std::optional<Vec3> velocity;          // of the frame's origin, world axes
  std::optional<Vec3> angular_velocity;  // world axes
  std::vector<FrameDef> frames;
  Shape shape;
  // Flexible bodies, whose frame is the mesh's: mass, inertia and centre of mass come from here, and several bodies may
  // share one. Start values of the elastic coordinates and their rates, where they are not zero.
  std::shared_ptr<const ReducedBody> reduced;
  std::shared_ptr<const FlexibleSource>
      flexible;  // what it was made from (model/flexible.hpp), where the user wrote it
  std::vector<double> elastic, elastic_rate;
  SuperelementOptions superelement;
  // Beams and cables: what they are; mass, inertia and centre of mass follow from it.
  std::shared_ptr<const BeamSource> beam;
};

// A place on a body: index into Model::bodies, or -1 for ground.
struct Attachment {
  int body = -1;
  Placement placement;  // in the body's frame; flexible bodies: undeformed
  std::string label;    // as the user wrote it: "rod.tip"
  Source source;
  std::string marker = {};  // flexible bodies: the marker it moves with; empty: the reference frame
};

// --- laws: stress sigma as a function of a deformation e and its rate ------------------------------------------------

// sigma = stiffness (e - rest) + damping de/dt
struct LinearLaw {
  double stiffness = 0, damping = 0;
  double rest = 0;
  bool tension_only = false;      // no force for e < rest, never pushes
  bool compression_only = false;  // no force for e > rest, never pulls
};
// sigma(e) through points, plus linear damping; slope continues outside.
struct TableLaw {
  std::vector<double> e, sigma;
  bool smooth = true;  // natural cubic spline, else straight lines
  double damping = 0;
};
// Play (backlash) between two flanks, the free interval being [lower, upper]; P-9 of the contact theory:
// elastic: -c g; damped: -c g - d dg/dt while g < 0; clipped: max(0, -c g - d dg/dt) for all g.
struct PlayLaw {
  enum class Kind { elastic, damped, clipped } kind = Kind::damped;
  double lower = 0, upper = 0;
  bool has_lower = true, has_upper = true;  // one-sided play: only one flank
  double stiffness = 0, damping = 0;
};
// sigma is a formula of e ("e"), its rate ("de"), time and any measured quantity.
struct FormulaLaw {
  Function sigma;
};
// First-order actuator: T dz/dt = command(t, quantities) - z;  sigma = -gain z (a force that pushes e to grow for z >
// 0).
struct ActuatorLaw {
  Function command;
  double time_constant = 0;
  double gain = 1;
  double initial = 0;
};
using Law = std::variant<LinearLaw, TableLaw, PlayLaw, FormulaLaw, ActuatorLaw>;

// Friction coefficient (or a friction force or torque) as a function of the slip speed v >= 0; the value at 0 is the
// one of sticking (P-11).
struct Friction {
  double mu = 0;                            // where there is no curve
  std::shared_ptr<const Expression> curve;  // of one variable, v
  bool any() const { return mu > 0 || curve != nullptr; }
};

// Friction in a joint's free components (P-22 to P-24, AF-14, AF-21): |torque or force| <= given limit + coefficient *
// load, where the load is made of the sizes of the joint's reactions, whatever their signs.
struct JointFriction {
  Friction torque, force;    // given limits, of the rate of an angle and of a displacement
  Friction coefficient;      // with the reactions
  double radius = 0;         // of the bearing: lever arm of friction by the radial reaction
  double collar_radius = 0;  // of the collar that carries the axial reaction; 0: it causes no friction
  double length = 0;         // of bearing or guide: moments are carried by a pair of forces at its ends; 0: not counted
  double width = 0;          // of a guide: the moment about its axis is carried by a pair across it; 0: not counted
  double velocity = 0;       // method smooth: slip speed at which friction has reached its value; 0: chosen
  Source source;
};

// --- joints ----------------------------------------------------------------------------------------------------------

struct Free {};
struct Rigid {};
struct Elastic {
  Law law;
};
struct Driven {
  Function motion;  // of time only
};
using Status = std::variant<Free, Rigid, Elastic, Driven>;

// The joint frames are A on the first body and B on the second; the joint's axis is z of A (revolute, prismatic,
// cylindrical, screw), the universal joint's axes are z of A and y of B. Components are named
// x y z (displacement of B in axes of A) and rx ry rz (rotation); 1-axis joints call theirs `angle` and `displacement`.
enum class JointKind {
  revolute,
  prismatic,
  cylindrical,
  spherical,
  universal,
  planar,
  fixed,
  screw,
  distance,
  point_on_curve,
  constant_velocity,
  bushing,
  gear,         // ratio between the angles of two joints
  rack_pinion,  // displacement of one joint against the angle of another
  slip,         // non-holonomic: no velocity of B against A along an axis of A's frame (knife edge, wheel)
  coordinate    // holds or drives a measured quantity: "rod.position.x"
};

struct JointComponent {
  std::string name;
  Status status;
  Source source;
};

// f(x, y) = 0 in the plane z of frame A: a circle or an ellipse about A's origin, a line along x, or a formula of x and
// y.
struct Curve {
  enum class Kind { circle, ellipse, line, formula } kind = Kind::circle;
  double a = 0, b = 0;                        // radius, or semi-axes along x and y
  std::shared_ptr<const Expression> formula;  // variables x, y
};

struct Joint : Named {
  JointKind kind = JointKind::revolute;
  Attachment a, b;
  std::vector<JointComponent> components;  // what differs from the kind's own: drives, elastic or rigid components
  double pitch = 0;                        // screw: displacement a radian
  double ratio = 1;              // gear: angle1 + ratio * angle2 = const; rack: displacement - ratio * angle = const
  std::optional<double> length;  // distance; without it the distance at the start
  Curve curve;
  std::string first, second;  // gear, rack: names of the two joints; coordinate: `first` is the quantity
  // Start values of the free components (in the kind's order), for placing bodies without a pose.
  std::vector<double> position, velocity;
  // Preferred coordinates: the model's default, or a joint forced into the tree or out of it.
  std::optional<bool> in_tree;
  std::optional<JointFriction> friction;
};

// --- forces ----------------------------------------------------------------------------------------------------------

// A force or torque on one place, with the opposite on `reaction` when given. Components in world axes or in the
// frame's.
struct Load : Named {
  bool torque = false;
  Attachment at;
  std::optional<Attachment> reaction;
  Function component[3];
  bool follower = false;  // components along the axes of `at`
};

// A stress between two places along one deformation.
struct ForceElement : Named {
  enum class Kind { distance, angle, coordinate } kind = Kind::distance;
  Attachment a, b;  // angle: about z of A; coordinate: displacement of B along `axis` of A
  int axis = 2;
  std::string quantity;  // kind coordinate with a named quantity instead of places ("pin.angle")
  Law law;
};

// --- contact ---------------------------------------------------------------------------------------------------------

// A contour or surface carried by a body; only shapes named by a contact touch anything. Planar shapes (point in the
// plane, line, circle, polygon, ellipse, curve, spline) lie in the x-y plane of their frame and make contacts with one
// tangent; the others are spatial and make contacts with two.
struct ContactShape : Named {
  enum class Kind {
    line,      // along x of its frame, material on the side y < 0; endless, or `length` long about the origin
    circle,    // radius; `hollow`: the material is outside
    polygon,   // `points` counter-clockwise, convex; z ignored
    ellipse,   // semi-axes size.x, size.y
    curve,     // x(s), y(s), from <= s <= to, material on the left
    spline,    // smooth curve through `points`, material on the left; `closed` or with two ends
    plane,     // z = 0 of its frame, material on the side z < 0
    sphere,    // radius; `hollow`: the material is outside
    box,       // edges `size`
    capsule,   // radius, distance `length` of its two centres, along z
    cylinder,  // radius, length, along z
    polytope   // convex hull of `points`
  } kind = Kind::sphere;
  Attachment at;
  double radius = 0, length = 0;  // length 0: endless line
  Vec3 size = Vec3::Zero();
  std::vector<Vec3> points;
  bool closed = false, hollow = false;
  std::shared_ptr<const Expression> x, y;  // of one variable, s
  double from = 0, to = 0;
  // One of a row along a beam (`type: sides`): the length of axis it stands for, half the section's extent towards what
  // it touches and the whole one across; 0: a shape by itself.
  double share = 0, half_height = 0, breadth = 0;
  static bool planar(Kind k) { return k <= Kind::spline; }
};

// Set-valued: impenetrable, Coulomb's law exactly, impacts in no time (P-27, P-28, P-36 to P-48).
struct RigidContact {
  enum class Impact { newton, poisson, moreau } impact = Impact::poisson;
  double restitution = 0;
  double tangential_restitution = 0;  // epsilon_T of P-42
  double reversibility = 1;           // nu of P-42; without effect where tangential_restitution is 0
  Friction friction;
  std::optional<double> impact_friction;  // in impacts, where it differs from sliding
  double rolling = 0, drilling = 0;       // P-26: moments up to these lengths times r_N, against rolling and spinning
};

// Force as a function of penetration and its rate.
struct CompliantContact {
  laws::LawValue normal;  // one of the laws of laws/laws.hpp, with its parameters
  Friction friction;
  double friction_velocity = 0;  // slip speed at which regularised friction has reached its value
  // How it gets there, with x = slip / friction_velocity < 1.
  enum class FrictionCurve {
    quadratic,  // 2 x - x^2 (E-24)
    cubic,      // (3 x - x^3) / 2
    quartic     // (3 x^2 - x^4) / 2: nothing holds at rest, and it has a corner at x = 1
  } friction_curve = FrictionCurve::quadratic;
  double rolling = 0, drilling = 0;  // as in RigidContact
};

using ContactLaw = std::variant<RigidContact, CompliantContact>;

// Two beams that touch each other, or one that touches itself (Y-16 to Y-22).
struct BeamTouching {
  int first = -1, second = -1;  // bodies; twice the same: itself
  int segments = 3, gauss = 3;  // of an element's side: Gauss points in equal segments
  enum class Multiplier { point, segment, element } multiplier = Multiplier::point;  // what one force is shared by
  enum class Way { automatic, points, lines } way = Way::automatic;  // corners and ends alone, sides too, by the angle
  double least_angle = 0.0349065850398866;  // 2 degrees: beams that meet at less lie on each other, straight ones too
  double line_stiffness = 0;  // compliant laws: of a side, by area; 0: the stiffness over height and depth
  double radius[2] = {0, 0};  // of round sections; 0: as the beam describes it
};

// More pairs than this are shown and recorded as the sums of their entries, unless asked for.
inline constexpr std::size_t most_pairs_shown = 40;

struct Contact : Named {
  std::string group;            // the entry of `contacts:` it comes from; several pairs may share one
  int first = -1, second = -1;  // indices into Model::shapes; -1 where the contact is written in coordinates:
  // gap and tangential displacement as formulas of joint coordinates and time, of which the slip is the rate.
  std::optional<Function> gap, slide;
  std::shared_ptr<const BeamTouching> beams;  // neither shapes nor formulas but beams
  ContactLaw law;
  // What method: smooth puts in the place of a rigid law; without it one is made from the model's scales.
  std::optional<CompliantContact> smooth;
};

// --- what to compute -------------------------------------------------------------------------------------------------

struct Output {
  std::string quantity;  // "rod.tip.position", "pin.angle", "energy.total", "pin.force"
  Source source;
};

struct Check {
  std::string
      quantity;  // a scalar quantity: "rod.tip.position.x", or "max(energy.total)" style reduction in `reduction`
  enum class Reduction {
    at_time,
    final,
    minimum,
    maximum,
    mean,
    drift,
    amplitude,
    peak_to_peak,
    integral,
    first_zero
  } reduction = Reduction::final;
  double time = 0;
  double value = 0;
  double tolerance = 0;  // absolute
  std::string from;      // where the number comes from
  Source source;
};

// The three families event_driven, time_stepping and smooth treat contact each in its own way; the other names choose
// the scheme of a smooth motion, alone or inside a family.
enum class Method {
  rk4,
  dopri5,
  radau5,
  generalized_alpha,
  newmark,
  hht,
  euler,
  symplectic_euler,
  verlet,
  bdf,
  adams,
  event_driven,
  time_stepping,
  smooth
};
enum class TimeStepping { moreau, generalized_alpha };

struct Simulate {
  Method method = Method::dopri5;
  Method scheme = Method::dopri5;                     // of the smooth motion inside event_driven and smooth
  TimeStepping time_stepping = TimeStepping::moreau;  // inside time_stepping
  double theta = 0.5;                                 // Moreau: weight of the end of the step
  double start = 0, end = 1;
  double step = 0;         // fixed step, or first step where the step is controlled (0: chosen)
  double max_step = 0;     // 0: none
  double output_step = 0;  // 0: (end-start)/1000
  double relative_tolerance = 1e-8, absolute_tolerance = 1e-10;
  double rho_inf = 0.8;             // generalized-alpha
  double beta = 0.25, gamma = 0.5;  // newmark
  double hht_alpha = -0.1;          // hht
  int max_order = 0;                // bdf, adams; 0: the highest
  bool fixed_point = false;         // radau5: iteration of its stages
  double checkpoint_interval = 0;   // simulated seconds, 0: a hundredth of the run
  bool project = true;              // remove constraint drift
  Source source;                    // where the scheme is named; empty: the program may choose
};

struct InitialConditions {
  bool adjust_positions = true, adjust_velocities = true;  // else an inconsistent start is an error
  std::vector<std::string> keep;  // bodies and joints that must not move when the start is made consistent
};

struct Model {
  std::string title, description;
  std::string file;
  std::vector<std::pair<std::string, std::string>> texts;  // every file read: path and text
  std::vector<std::pair<std::string, double>> parameters;  // of the model itself, by name, SI
  Vec3 gravity = Vec3::Zero();
  bool joint_coordinates = false;  // coordinates: joint | absolute
  std::vector<FrameDef> ground_frames;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Load> loads;
  std::vector<ForceElement> force_elements;
  std::vector<ContactShape> shapes;
  std::vector<Contact> contacts;
  std::shared_ptr<const CrowdModel> crowd;  // instead of contacts; null: none
  std::vector<Output> outputs;
  std::vector<Check> checks;
  Simulate simulate;
  InitialConditions initial;
};

}  // namespace clatter
