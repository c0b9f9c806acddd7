// Laws of contact: rigid (P-27, P-28, P-42), compliant (P-9, P-10, powers of the penetration, Y-23, Y-24), friction
// mu(v) of the slip speed (P-11), of which Stribeck's mu = kinetic + (static - kinetic) exp(-v/velocity) has a block of
// its own.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

std::optional<double> Loader::fraction(const Object& o, const char* key) {
  const auto x = o.number(key);
  if (!x || (*x >= 0 && *x <= 1)) return x;
  mistakes_.add(*o.find(key), fmt::format("`{}` of {} lies between 0 and 1, this is {:.6g}", key, o.what(), *x));
  return {};
}

Friction Loader::friction(const Object& o, const char* key, const char* unit, const char* rate) {
  Friction f;
  const YamlNode* n = o.find(key);
  if (!n) return f;
  if (n->kind == YamlNode::Kind::map) {
    const Object b(reader_, *n, object_spec("friction"), fmt::format("the friction of {}", o.what()), o.scope());
    const auto at_rest = b.not_negative("static"), sliding = b.not_negative("kinetic");
    const auto speed = b.positive("velocity");
    if (!at_rest || !sliding || !speed) return f;
    if (*at_rest < *sliding) {
      b.mistake("static", fmt::format("`static` ({:.6g}) is smaller than `kinetic` ({:.6g})", *at_rest, *sliding),
                "friction that rises with the speed is written as a formula of `v`");
      return f;
    }
    f.mu = *at_rest;
    if (*at_rest == *sliding) return f;
    f.curve = parse_expression(fmt::format("{} + {}*exp(-v/{})", *sliding, *at_rest - *sliding, *speed))
                  .bind([](const std::string&) { return Symbol{}; }, {"v"})
                  .expression;
    return f;
  }
  const auto read = reader_.function(*n, o.scope(), dimension_of(unit), {{"v", dimension_of(rate)}}, false, false);
  if (!read) return f;
  f.mu = read->constant;
  f.curve = read->expression;
  const auto fine = [](double mu) { return std::isfinite(mu) && mu >= 0; };
  if (!f.curve) {
    if (!fine(f.mu))
      mistakes_.add(*n, fmt::format("`{}` of {} cannot be negative, this is {:.6g}", key, o.what(), f.mu));
    return f;
  }
  // No proof, but the usual mistakes (a falling line, a pole at rest) show at some of these speeds.
  for (const double v : {0.0, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0}) {
    const double at[] = {v}, mu = f.curve->value(at);
    if (v == 0) f.mu = mu;
    if (fine(mu)) continue;
    mistakes_.add(*n,
                  fmt::format("`{}` of {} {} at v = {:.6g} {}", key, o.what(),
                              std::isfinite(mu) ? fmt::format("is negative ({:.6g})", mu) : "is not finite", v, rate),
                  "`v` is the slip speed, 0 or more");
    break;
  }
  return f;
}

// The unit of a parameter of a law: of the stiffness of a power law N/m^exponent, of what is spread over beams for each m
// or m^2 of them. Nothing where the power is none that units have.
std::optional<Dimension> Loader::law_unit(const laws::Parameter& p, double exponent, int per) {
  const double powers = (p.of_power ? exponent : 0) + (p.spread ? per : 0);
  const auto length = power(dimension_of("m"), powers);
  if (!length) return {};
  return (p.of_power ? dimension_of("N") : dimension_of(p.unit)) / *length;
}

// Reports what is missing or out of its bounds; otherwise sets the parameter if it is given.
void Loader::law_parameter(const Object& o, const laws::Parameter& p, int per, laws::LawValue& law) {
  if (p.required && !o.require(p.key, p.why)) return;
  const YamlNode* n = o.find(p.key);
  if (!n) return;
  const double exponent = laws::exponent(law);
  const auto unit = law_unit(p, exponent, per);
  const auto x = reader_.constant(*n, o.scope(), unit);
  if (!x) return;
  if (!unit && x->dimension)
    mistakes_.add(*n,
                  fmt::format("with the exponent {:.6g} `{}` is a number without unit, in N and m", exponent, p.key));
  if (!laws::within(x->value, p.bound))
    mistakes_.add(
        *n, fmt::format("`{}` of {} {}, this is {:.6g}", p.key, o.what(), laws::bound_text(p.bound), x->value), p.why);
  laws::parameter(law, p.key) = x->value;
}

// Parameters of which exactly one is given.
void Loader::law_choices(const Object& o, const laws::LawRow& row) {
  for (int choice = 1;; ++choice) {
    std::vector<std::string> keys;
    for (const laws::Parameter& p : row.parameters)
      if (p.choice == choice) keys.emplace_back(p.key);
    if (keys.empty()) return;
    o.one_of(keys);
  }
}

std::optional<std::pair<double, double>> Loader::one_or_two(const Object& o, const char* key) {
  const YamlNode* n = o.find(key);
  if (!n) return {};
  const auto values = reader_.list(*n, o.scope(), o.dimension(key));
  if (!values) return {};
  if (values->empty() || values->size() > 2) {
    mistakes_.add(*n, fmt::format("`{}` of {} takes one number, or one for each shape", key, o.what()));
    return {};
  }
  return std::make_pair(values->front(), values->back());
}

// Hertz's stiffness in the place of a given one, from `young`, `poisson` and radii; without the radii of shapes yet.
void Loader::law_moduli(const Object& o, PairLaw& of_pair, laws::LawValue& law) {
  for (const char* key : {"stiffness", "exponent"})
    if (o.has(key)) o.mistake(key, fmt::format("`{}` and `young` exclude each other", key));
  if (of_pair.per > 0)
    o.mistake("per", "`young` makes the stiffness of a point of contact", "give `stiffness` for a length or area");
  o.require("poisson");
  const auto E = one_or_two(o, "young"), nu = one_or_two(o, "poisson");
  if (const auto R = one_or_two(o, "radii")) {
    if (!(R->first > 0 && R->second > 0)) o.mistake("radii", "`radii` must be positive");
    of_pair.radius[0] = R->first;
    of_pair.radius[1] = R->second;
  }
  if (!E || !nu) return;
  if (!(E->first > 0 && E->second > 0)) o.mistake("young", "`young` must be positive");
  const auto fits = [](double x) { return x > -1 && x <= 0.5; };
  if (!fits(nu->first) || !fits(nu->second)) o.mistake("poisson", "`poisson` lies between -1 and 0.5");
  of_pair.modulus = 1 / ((1 - nu->first * nu->first) / E->first + (1 - nu->second * nu->second) / E->second);
  laws::parameter(law, "stiffness") = 4.0 / 3.0 * of_pair.modulus;
}

// The law of the normal force by its row in the table of laws.
void Loader::normal_law(const Object& o, const std::string& type, PairLaw& of_pair, laws::LawValue& law) {
  const std::size_t before = mistakes_.count();
  const laws::LawRow* found = laws::find(type, o.word("model").value_or(""));
  if (found == nullptr) return;  // a `model` where there are none, which is reported
  const laws::LawRow& row = *found;
  law = laws::with_defaults(row);
  for (const laws::LawRow& other : laws::table())
    for (const laws::Parameter& p : other.parameters)
      if (other.type == type && p.in_language && row.find(p.key) == nullptr && o.has(p.key)) {
        o.mistake(p.key, fmt::format("`{}` has no meaning for {} of model `{}`", p.key, o.what(), row.model));
        return;
      }
  law_choices(o, row);
  for (const laws::Parameter& p : row.parameters)
    if (p.in_language && std::string_view(p.key) != "stiffness") law_parameter(o, p, of_pair.per, law);
  const laws::Parameter* stiffness = row.find("stiffness");
  if (stiffness == nullptr) return;
  if (stiffness->of_power) {
    of_pair.young_node = o.find("young");
    if (of_pair.young_node != nullptr) return law_moduli(o, of_pair, law);
    for (const char* key : {"poisson", "radii"})
      if (o.has(key)) o.mistake(key, fmt::format("`{}` goes with `young`", key));
  }
  // Its unit depends on the others.
  if (mistakes_.count() == before) law_parameter(o, *stiffness, of_pair.per, law);
}

std::optional<CompliantContact> Loader::compliant_law(const Object& o, const std::string& type, PairLaw& of_pair) {
  using Curve = CompliantContact::FrictionCurve;
  const std::size_t before = mistakes_.count();
  CompliantContact c;
  c.friction = friction(o);
  c.friction_velocity = o.positive("friction_velocity").value_or(0);
  const std::string curve = o.word("friction_curve").value_or("quadratic");
  c.friction_curve = curve == "cubic" ? Curve::cubic : curve == "quartic" ? Curve::quartic : Curve::quadratic;
  c.rolling = o.not_negative("rolling_friction").value_or(0);
  c.drilling = o.not_negative("drilling_friction").value_or(0);
  const std::string per = o.word("per").value_or("point");
  of_pair.per = per == "area" ? 2 : per == "length" ? 1 : 0;
  of_pair.per_node = o.find("per");
  normal_law(o, type, of_pair, c.normal);
  if (mistakes_.count() != before) return {};
  return c;
}

bool Loader::fit_laws(Contact& c, const PairLaws& of_pair) {
  const ContactShape& a = model_.shapes[static_cast<std::size_t>(c.first)];
  const ContactShape& b = model_.shapes[static_cast<std::size_t>(c.second)];
  auto* law = std::get_if<CompliantContact>(&c.law);
  return (law == nullptr || fit_law(*law, of_pair.law, a, b)) &&
         (!c.smooth || fit_law(*c.smooth, of_pair.smooth, a, b));
}

// Hertz's stiffness of two round bodies, c = 4/3 E* sqrt(R), 1/R = 1/R1 + 1/R2, from the curvatures 1/R of the shapes
// (Y-23), and shares of a beam's length or area (T-8).
bool Loader::fit_law(CompliantContact& law, const PairLaw& of_pair, const ContactShape& a, const ContactShape& b) {
  using Kind = ContactShape::Kind;
  if (of_pair.modulus > 0) {
    double curvature = 0;
    const ContactShape* shapes[] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
      const ContactShape& s = *shapes[i];
      double R = of_pair.radius[i].value_or(s.half_height > 0 ? s.half_height : s.radius);
      const bool flat = s.kind == Kind::line || s.kind == Kind::plane,
                 round = s.kind == Kind::circle || s.kind == Kind::sphere;
      if (!of_pair.radius[i] && flat) continue;
      if (!of_pair.radius[i] && (!round || R == 0)) {
        mistakes_.add(*of_pair.young_node,
                      round ? fmt::format("shape `{}` is a point and has no radius", s.name)
                            : fmt::format("shape `{}` has no radius of its own everywhere", s.name),
                      "give `radii`, or `stiffness` instead of `young`");
        return false;
      }
      curvature += (s.hollow ? -1 : 1) / R;
    }
    if (!(curvature > 0)) {
      mistakes_.add(*of_pair.young_node,
                    fmt::format("`{}` and `{}` touch without being curved against each other: Hertz's formula has no "
                                "stiffness for them",
                                a.name, b.name),
                    "give `stiffness`");
      return false;
    }
    laws::parameter(law.normal, "stiffness") = 4.0 / 3.0 * of_pair.modulus / std::sqrt(curvature);
  }
  if (of_pair.per == 0) return true;
  const ContactShape& row = a.share > 0 ? a : b;
  const double share = row.share * (of_pair.per == 2 ? row.breadth : 1);
  if (!(share > 0)) {
    mistakes_.add(*of_pair.per_node,
                  row.share > 0 ? fmt::format("the beam of `{}` has no width", row.name)
                                : fmt::format("neither `{}` nor `{}` is a point of a beam's sides", a.name, b.name),
                  row.share > 0 ? "use `per: length`" : "`per` spreads a law over the length of a beam; leave it out");
    return false;
  }
  laws::spread(law.normal, share);
  return true;
}

std::optional<RigidContact> Loader::rigid_law(const Object& o) {
  const std::size_t before = mistakes_.count();
  RigidContact r;
  r.restitution = fraction(o, "restitution").value_or(0);
  if (const auto w = o.word("impact"))
    r.impact = *w == "newton"   ? RigidContact::Impact::newton
               : *w == "moreau" ? RigidContact::Impact::moreau
                                : RigidContact::Impact::poisson;
  r.tangential_restitution = fraction(o, "tangential_restitution").value_or(0);
  r.reversibility = fraction(o, "reversibility").value_or(1);
  r.impact_friction = o.not_negative("impact_friction");
  r.friction = friction(o);
  r.rolling = o.not_negative("rolling_friction").value_or(0);
  r.drilling = o.not_negative("drilling_friction").value_or(0);
  if (mistakes_.count() != before) return {};
  return r;
}

bool Loader::contact_law(const Object& contact, Contact& c, PairLaws& of_pair) {
  const YamlNode* node = contact.find("law");
  if (!node) return false;
  const Object o(reader_, *node, object_spec("contact-law"), fmt::format("the law of {}", contact.what()),
                 contact.scope());
  if (!o.ok()) return false;
  const auto type = o.word("type");
  if (!type) return false;
  o.check_type(*type);
  if (*type != "rigid") {
    auto l = compliant_law(o, *type, of_pair.law);
    if (l) c.law = std::move(*l);
    return l.has_value();
  }
  auto r = rigid_law(o);
  if (const YamlNode* n = o.find("smooth")) {
    const Object s(reader_, *n, object_spec("compliant-law"), fmt::format("the smooth law of {}", contact.what()),
                   contact.scope());
    const auto smooth_type = s.ok() ? s.word("type") : std::nullopt;
    if (!smooth_type) return false;
    s.check_type(*smooth_type);
    c.smooth = compliant_law(s, *smooth_type, of_pair.smooth);
    if (c.smooth && r && !s.has("friction")) c.smooth->friction = r->friction;
    if (c.smooth && r && !s.has("rolling_friction")) c.smooth->rolling = r->rolling;
    if (c.smooth && r && !s.has("drilling_friction")) c.smooth->drilling = r->drilling;
  }
  if (!r) return false;
  c.law = std::move(*r);
  return true;
}

}  // namespace clatter::loading
