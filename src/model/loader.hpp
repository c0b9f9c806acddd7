// The loader's inside: from YAML trees to a Model, in passes over all scopes (the model itself and each instance of an
// assembly): names and parameters, bodies, joints, forces, shapes and contacts, then what to
// compute.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "laws/table.hpp"
#include "model/beam.hpp"
#include "model/flexible.hpp"
#include "model/kinds.hpp"
#include "model/load.hpp"
#include "model/reader.hpp"

namespace clatter::loading {

// Axes with the given z, and y as near as possible to the wished one; without a wish the world's where it fits.
Quat axes_along(const Vec3& z, const std::optional<Vec3>& y = {});

// One scope with the sections of the files (or of the assembly) that fill it.
struct Sections {
  std::vector<const YamlNode::Entry*> parameters, frames, bodies, joints, forces, shapes, contacts, instances;
};

class Loader {
 public:
  explicit Loader(const LoadOptions& options) : options_(options), reader_(mistakes_) {}
  Model run(const std::string& text, const std::string& name);

 private:
  // Consecutive shapes of the model that one name stands for; none where it has a mistake.
  struct ShapeRow {
    int first = 0, count = 0;
    void append_to(std::vector<int>& list) const {
      for (int i = 0; i < count; ++i) list.push_back(first + i);
    }
  };
  struct NamedShape {
    ShapeRow row;
    Source source;
    int body = -1;  // that carries it
  };

  // load.cpp: files, parameters, scopes
  void read_file(const std::string& text, const std::string& name);
  void merge(const YamlNode& root, const std::string& name);
  void include(const YamlNode& list, const std::string& name);
  void append(std::vector<const YamlNode::Entry*>& to, const YamlNode& section, const char* what);
  Sections assembly_sections(const YamlNode& node);
  using Override = std::unordered_map<std::string, Parameter>;
  void evaluate_parameters(Scope& scope, const std::vector<const YamlNode::Entry*>& entries, const Override& given,
                           const std::string& instance);
  Parameter fit_override(Parameter given, const YamlNode::Entry& definition);
  void expand(Scope& scope, Sections sections);
  void instantiate(Scope& outer, const YamlNode::Entry& entry);
  void instantiate(const Scope& local, Scope& outer, const YamlNode::Entry& entry, const std::string& called);
  // Registers a name in its scope; false when it is not one or is taken.
  bool claim(Scope& scope, const YamlNode::Entry& entry, const char* kind);
  bool valid_name(const YamlNode::Entry& entry, const char* kind);
  void count_object(const YamlNode::Entry& entry);
  const YamlNode* main_value(const char* key) const;

  // load_bodies.cpp
  Placement placement(const Object& o);
  Placement frame_placement(const YamlNode& node, const Scope& scope, const std::string& what);
  void ground_frame(const Scope& scope, const YamlNode::Entry& entry);
  void body(const Scope& scope, const YamlNode::Entry& entry);
  void mass_properties(const Object& o, Body& b);
  bool inertia(const Object& o, Body& b);
  struct Solid {
    double volume = 0;
    Vec3 inertia = Vec3::Zero();  // principal, for unit mass, about the centre
  };
  std::optional<Solid> shape(const Object& body, Body& b);
  void pose(const Object& o, Body& b);
  void check_planar(const Object& o, const Body& b);
  void check_inertia(const Object& o, const Body& b);

  // load_flexible.cpp
  std::string beside(const YamlNode& node, const std::string& file) const;
  std::optional<int> whole(const Object& o, const char* key, int least, int most);
  std::vector<Vec3> point_list(const Object& o, const char* key, std::size_t least, std::size_t most);
  std::vector<double> number_list(const Object& o, const char* key, std::size_t count);  // count 0: any
  void flexible_body(const Object& o, Body& b);
  void flexible_formulation(const Object& o, Body& b, FlexibleSource& f);
  void flexible_mesh(const YamlNode& node, const Scope& scope, const std::string& body, MeshDescription& m);
  void flexible_gear(const YamlNode& node, const Scope& scope, const std::string& body, MeshDescription& m);
  void flexible_material(const YamlNode& node, const Scope& scope, const std::string& body, FlexibleSource& f);
  void flexible_section(const YamlNode& node, const Scope& scope, const std::string& body, SectionDescription& s);
  void flexible_interface(const YamlNode::Entry& e, const Scope& scope, const std::string& body, FlexibleSource& f);
  void flexible_reduction(const YamlNode& node, const Scope& scope, const std::string& body, ReductionDescription& r);
  void flexible_damping(const YamlNode& node, const Scope& scope, const std::string& body, DampingDescription& d);
  void make_flexible(Body& b);

  // load_beam.cpp
  void beam(const Object& o, Body& b, bool planar);
  void beam_axis(const Object& o, const std::optional<Vec3>& up, BeamSource& s);
  std::optional<Vec3> beam_section(const Object& o, const std::string& body, BeamSource& s);  // near y of the section

  // load_places.cpp
  std::optional<Attachment> place(const YamlNode& node, const Scope& scope);
  std::optional<Attachment> named_place(const YamlNode& node, const Scope& scope);
  std::optional<std::pair<Attachment, Attachment>> two_places(const Object& o);
  std::optional<Placement> start_pose(const Attachment& a) const;
  bool planar(int body) const;

  // load_joints.cpp
  void joint(const Scope& scope, const YamlNode::Entry& entry);
  bool joint_places(const Object& o, Joint& j);  // false: a place is missing, told already
  void joint_axes(const Object& o, Joint& j);
  void joint_components(const Object& o, Joint& j, const std::string& type);
  void joint_start(const Object& o, Joint& j);
  void joint_extras(const Object& o, Joint& j);
  void joint_friction(const Object& o, Joint& j, const std::string& type);  // load_joint_friction.cpp
  void joint_play(const Object& o, Joint& j, const std::string& type);      // load_joint_play.cpp
  int find_joint(const YamlNode& name, const Scope& scope);
  void check_couplings();

  // load_forces.cpp
  // Rotational laws take angles and torques.
  std::optional<Law> law(const Object& o, bool rotational, const std::string& rest_key, double rest);
  std::optional<PlayLaw> play(const Object& o, bool rotational);
  std::optional<TableLaw> table(const Object& o, bool rotational);
  void force(const Scope& scope, const YamlNode::Entry& entry);
  void load(const Object& o, Load l);
  void pressure(const Object& o, const std::string& name, const Source& source);
  void element(const Object& o, ForceElement f, const std::string& type);
  bool deformation(const Object& o, ForceElement& f, const std::string& type, bool& rotational, double& start);

  // load_shapes.cpp
  void contact_shape(const Scope& scope, const YamlNode::Entry& entry);
  void shape_size(const Object& o, ContactShape& s);
  void shape_points(const Object& o, ContactShape& s);
  void shape_curve(const Object& o, ContactShape& s);
  // Has the body a solid with a surface, or is it a beam? The shapes made of it; none after a report.
  bool touchable(int body) const;
  std::vector<int> shapes_of_body(int body, const YamlNode& used);
  bool section(const Shape& solid, ContactShape& s) const;

  // load_sides.cpp: points of the sides of beams
  struct Sides {
    int per_element = 5;
    bool below = true, above = true;
    std::optional<double> radius;  // of circles and spheres on an axis; the section's unless given
  };
  void sides(const Object& o, const Attachment& on, NamedShape& named, const std::string& name);
  // Appends the shapes and the points that carry them; a message, or none.
  std::string add_sides(int body, const Sides& wanted, const std::string& name, const Source& source, ShapeRow& row);

  // load_contacts.cpp
  void contact(const Scope& scope, const YamlNode::Entry& entry);

  // load_contact_laws.cpp
  // What a compliant law takes from the two shapes it acts between.
  struct PairLaw {
    double modulus = 0;  // the stiffness is 4/3 of it times a root of the shapes' radii; 0: given
    std::optional<double> radius[2];
    int per = 0;  // stiffness and damping are for a point (0), a length (1), an area (2) of beam
    const YamlNode* per_node = nullptr;
    const YamlNode* young_node = nullptr;
  };
  struct PairLaws {
    PairLaw law, smooth;
  };
  bool contact_law(const Object& contact, Contact& c, PairLaws& of_pair);
  // Fits the laws to the shapes of the contact; false after a report.
  bool fit_laws(Contact& c, const PairLaws& of_pair);
  bool fit_law(CompliantContact& law, const PairLaw& of_pair, const ContactShape& a, const ContactShape& b);
  std::optional<RigidContact> rigid_law(const Object& o);
  std::optional<CompliantContact> compliant_law(const Object& o, const std::string& type, PairLaw& of_pair);
  void normal_law(const Object& o, const std::string& type, PairLaw& of_pair, laws::LawValue& law);
  static std::optional<Dimension> law_unit(const laws::Parameter& p, double exponent, int per);
  void law_parameter(const Object& o, const laws::Parameter& p, int per, laws::LawValue& law);
  static void law_choices(const Object& o, const laws::LawRow& row);
  void law_moduli(const Object& o, PairLaw& of_pair, laws::LawValue& law);
  // One or two numbers, for both shapes or for each.
  std::optional<std::pair<double, double>> one_or_two(const Object& o, const char* key);
  std::optional<double> fraction(const Object& o, const char* key);  // between 0 and 1
  // A coefficient, or with its unit a force or torque, of the slip speed (or the rate of an angle).
  Friction friction(const Object& o, const char* key = "friction", const char* unit = "1", const char* rate = "m/s");
  // load_beam_contacts.cpp
  int beam_named(const YamlNode& n, const Scope& scope) const;  // body, or -1
  bool between_beams(const Object& contact, const Scope& scope) const;
  bool beam_skin(const YamlNode& at, int body, double& radius);
  void beam_contact(const Object& contact, Contact c, bool lawful, const PairLaws& of_pair,
                    const YamlNode::Entry& entry);
  // Indices of shapes that names of a contact stand for; empty after a report, or for a shape that is itself wrong.
  std::vector<int> touching(const YamlNode& name, const Scope& scope);
  std::vector<int> matching(const YamlNode& pattern, const Scope& scope);
  std::vector<int> touching_all(const std::vector<const YamlNode*>& names, const Scope& scope);
  void rope(const Object& o, Contact c, bool lawful, const YamlNode::Entry& e);
  // Entries of a crowd (load_crowd.cpp): decided before contacts are read, from what `simulate` asks for.
  void decide_crowd();
  void crowd_entry(const Object& o, Contact c, bool among, std::vector<int> first, std::vector<int> second,
                   const YamlNode& at);
  const RigidContact* crowd_law(const Object& o, const Contact& c);
  void crowd_settings(const Object& o);
  bool can_touch(const ContactShape& a, const ContactShape& b, const YamlNode& at);

  // load_study.cpp
  void outputs(const YamlNode& node);
  void checks(const YamlNode& node);
  void check(const YamlNode& node);
  void simulate(const YamlNode& node);
  void contact_scheme(const Object& o);
  void newmark_weights(const Object& o, Method m);
  bool rigid_contacts() const;
  bool joint_frictions() const;
  void initial(const YamlNode& node);
  void check_uses();
  void check_finite();

  const LoadOptions& options_;
  Mistakes mistakes_;
  Reader reader_;
  Model model_;
  std::shared_ptr<CrowdModel> crowd_;  // null: contacts are pairs
  std::deque<YamlDocument> documents_;
  std::vector<std::string> open_files_;  // being read, for cycles
  std::unordered_set<std::string> read_files_;
  // Top-level keys that are not merged: of the outermost file that gives them.
  std::unordered_map<std::string, const YamlNode*> single_;
  std::vector<const YamlNode*> outputs_, checks_;
  Sections sections_;
  std::unordered_map<std::string, const YamlNode::Entry*> assemblies_;
  std::vector<std::string> open_assemblies_;  // being expanded, for cycles
  struct Work {
    Scope* scope;
    Sections sections;
  };
  std::deque<Scope> scopes_;
  std::deque<Work> work_;
  std::unordered_map<std::string, int> body_index_, joint_index_;
  std::unordered_map<std::string, int> ground_frame_index_;
  std::unordered_set<std::string> objects_;                  // full names of everything that has quantities
  std::unordered_map<std::string, NamedShape> shape_index_;  // shapes have names of their own, apart from bodies
  std::unordered_map<int, ShapeRow> body_shape_index_;       // shapes made of bodies' solids or sides, by body
  std::unordered_set<std::string> contact_names_;            // of single pairs
  struct Coupling {
    const YamlNode* name;
    const Scope* scope;
    bool rotation;
  };
  std::vector<Coupling> couplings_;  // joints named by gears and racks
  std::size_t object_count_ = 0;
  std::size_t parameter_count_ = 0;
};

}  // namespace clatter::loading
