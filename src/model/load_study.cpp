// What to compute: outputs, checks, simulate, initial.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/crowd.hpp"
#include "model/loader.hpp"
#include "model/method_words.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

namespace {
bool is_pattern(const std::string& s) { return s.find_first_of("*?") != std::string::npos; }

bool is_family(Method m) { return m == Method::event_driven || m == Method::time_stepping || m == Method::smooth; }
}  // namespace

void Loader::outputs(const YamlNode& node) {
  const auto names = reader_.names(node);
  if (!names) return;
  for (const YamlNode* n : *names) {
    model_.outputs.push_back({n->text, mistakes_.source(*n)});
    if (!is_pattern(n->text)) reader_.uses.push_back({n->text, mistakes_.source(*n)});
  }
}

void Loader::checks(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list) {
    mistakes_.add(node, "`checks` is a list: each begins with `- quantity:`");
    return;
  }
  for (const YamlNode* n : node.items) check(*n);
}

void Loader::check(const YamlNode& node) {
  const Scope& scope = scopes_.front();
  const Object o(reader_, node, object_spec("check"), "the check", scope);
  if (!o.ok()) return;
  const std::size_t before = mistakes_.count();
  Check c;
  c.source = mistakes_.source(node);
  std::optional<Dimension> unit;
  if (const auto q = o.text("quantity")) {
    c.quantity = *q;
    if (is_pattern(*q)) mistakes_.add(*o.find("quantity"), "a check needs one quantity, not a pattern");
    reader_.uses.push_back({*q, mistakes_.source(*o.find("quantity"))});
    unit = quantity_dimension(*q);
  }
  if (const YamlNode* at = o.find("at")) {
    using R = Check::Reduction;
    static const std::vector<std::pair<std::string, R>> words{
        {"final", R::final},       {"min", R::minimum},          {"minimum", R::minimum},
        {"max", R::maximum},       {"maximum", R::maximum},      {"mean", R::mean},
        {"drift", R::drift},       {"amplitude", R::amplitude},  {"peak-to-peak", R::peak_to_peak},
        {"integral", R::integral}, {"first-zero", R::first_zero}};
    const auto it = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == at->text; });
    if (it != words.end()) {
      c.reduction = it->second;
      if (c.reduction == R::first_zero) unit = dimension_of("s");
      if (c.reduction == R::integral && unit) unit = *unit * dimension_of("s");
    } else {
      std::vector<std::string> known;
      for (const auto& w : words) known.push_back(w.first);
      const bool looks_like_word = at->kind == YamlNode::Kind::scalar && !at->text.empty() &&
                                   std::isalpha(static_cast<unsigned char>(at->text[0])) &&
                                   !nearest_word(at->text, known).empty() && !scope.find_parameter(at->text);
      if (looks_like_word) {
        mistakes_.add(*at, fmt::format("`{}` is not something to check at", at->text), did_you_mean(at->text, known));
      } else if (const auto t = o.number("at")) {
        c.reduction = R::at_time;
        c.time = *t;
      }
    }
  }
  if (const YamlNode* v = o.find("value"))
    if (const auto x = reader_.number(*v, scope, unit)) c.value = *x;
  if (const auto from = o.text("from")) c.from = *from;

  const auto relative = [&](double r, const YamlNode& at) {
    if (c.value == 0 && mistakes_.count() == before)
      mistakes_.add(at, "a relative tolerance of the value 0 allows nothing", "give an absolute `tolerance`");
    c.tolerance = std::abs(c.value) * r;
  };
  if (o.has("tolerance") && o.has("relative")) o.mistake("relative", "`tolerance` and `relative` exclude each other");
  if (!o.has("tolerance") && !o.has("relative")) o.require("tolerance", "or `relative`");
  if (const YamlNode* n = o.find("tolerance")) {
    static constexpr std::string_view suffix = " relative";
    if (n->kind == YamlNode::Kind::scalar && n->text.ends_with(suffix)) {
      YamlNode number = *n;
      number.text.resize(number.text.size() - suffix.size());
      if (const auto r = reader_.number(number, scope, Dimension{})) {
        if (*r < 0) mistakes_.add(*n, "a tolerance cannot be negative");
        relative(*r, *n);
      }
    } else if (const auto t = reader_.number(*n, scope, unit)) {
      if (*t < 0) mistakes_.add(*n, "a tolerance cannot be negative");
      c.tolerance = *t;
    }
  } else if (const auto r = o.not_negative("relative")) {
    relative(*r, *o.find("relative"));
  }
  if (mistakes_.count() == before) model_.checks.push_back(std::move(c));
}

void Loader::simulate(const YamlNode& node) {
  const Object o(reader_, node, object_spec("simulate"), "`simulate`", scopes_.front());
  if (!o.ok()) return;
  Simulate& s = model_.simulate;
  if (const auto w = o.word("method")) {
    for (const auto& [name, method] : method_words())
      if (name == *w) s.method = method;
    if ((rigid_contacts() || joint_frictions()) && !is_family(s.method))
      mistakes_.add(*o.find("method"),
                    fmt::format("`{}` cannot integrate {} by itself", *w,
                                rigid_contacts() ? "rigid contacts" : "friction in joints"),
                    "use event-driven, time-stepping or smooth, with this as its `scheme`");
  }
  contact_scheme(o);
  // Where the scheme that takes the steps was named; nowhere: the program chooses it, and may go over to another.
  const char* names = is_family(s.method) ? "scheme" : "method";
  s.source = o.has(names) ? mistakes_.source(*o.find(names)) : Source{};
  s.start = o.number_or("start", 0);
  s.end = o.number_or("end", 1);
  if (!(s.end > s.start)) {
    const std::string message = fmt::format("`end` ({:.6g} s) must lie after `start` ({:.6g} s)", s.end, s.start);
    o.mistake(o.has("end") ? "end" : "start", message);
  }
  s.step = o.positive("step").value_or(0);
  s.max_step = o.positive("max_step").value_or(0);
  s.output_step = o.positive("output_step").value_or(0);
  s.checkpoint_interval = o.positive("checkpoint").value_or(0);
  if (const auto t = o.positive("tolerance")) {
    s.relative_tolerance = *t;
    s.absolute_tolerance = *t * 1e-2;
  }
  if (const auto t = o.positive("absolute_tolerance")) s.absolute_tolerance = *t;
  if (const auto r = o.number("rho_infinity")) {
    if (!(*r >= 0 && *r <= 1))
      mistakes_.add(*o.find("rho_infinity"), fmt::format("`rho_infinity` lies between 0 and 1, this is {:.6g}", *r));
    s.rho_inf = *r;
  }
  s.project = o.boolean("project").value_or(true);
  const Method m = s.method == Method::event_driven || s.method == Method::smooth ? s.scheme : s.method;
  newmark_weights(o, m);
  if (const auto k = o.number("max_order")) {
    const int highest = m == Method::bdf ? 5 : 12;
    const YamlNode& n = *o.find("max_order");
    if (m != Method::bdf && m != Method::adams)
      mistakes_.add(n, "`max_order` goes with the methods bdf and adams");
    else if (!(*k >= 1 && *k <= highest && *k == std::floor(*k)))
      mistakes_.add(n, fmt::format("`max_order` is a whole number from 1 to {}, this is {:.6g}", highest, *k));
    else
      s.max_order = static_cast<int>(*k);
  }
  if (const auto w = o.word("iteration")) {
    if (m != Method::radau5) mistakes_.add(*o.find("iteration"), "`iteration` goes with the method radau5");
    s.fixed_point = *w == "fixed-point";
  }
  const bool fixed = m == Method::rk4 || m == Method::euler || m == Method::symplectic_euler || m == Method::verlet ||
                     m == Method::generalized_alpha || m == Method::newmark || m == Method::hht ||
                     m == Method::time_stepping;
  if (fixed && !o.has("step")) o.require("step", "this method has a fixed step");
}

// The parameters of Newmark's family (E-21), each where it means something.
void Loader::newmark_weights(const Object& o, Method m) {
  Simulate& s = model_.simulate;
  for (const char* key : {"beta", "gamma"}) {
    const auto x = o.number(key);
    if (!x) continue;
    const bool beta = std::string_view(key) == "beta";
    if (m != Method::newmark)
      mistakes_.add(*o.find(key), fmt::format("`{}` goes with the method newmark", key));
    else if (beta ? !(*x > 0 && *x <= 1) : !(*x >= 0.5 && *x <= 1))
      mistakes_.add(
          *o.find(key),
          beta ? fmt::format("`beta` lies between 0 (excluded: the scheme is implicit) and 1, this is {:.6g}", *x)
               : fmt::format("`gamma` lies between 0.5 and 1, this is {:.6g}: below 0.5 vibrations grow", *x));
    (beta ? s.beta : s.gamma) = *x;
  }
  if (m == Method::newmark && s.gamma > 0.5 && !o.has("beta")) s.beta = 0.25 * (s.gamma + 0.5) * (s.gamma + 0.5);
  if (const auto x = o.number("alpha")) {
    if (m != Method::hht)
      mistakes_.add(*o.find("alpha"), "`alpha` goes with the method hht");
    else if (!(*x >= -1.0 / 3 - 1e-12 && *x <= 0))
      mistakes_.add(*o.find("alpha"), fmt::format("`alpha` lies between -1/3 and 0, this is {:.6g}", *x));
    s.hht_alpha = *x;
  }
}

bool Loader::rigid_contacts() const {
  if (crowd_ && !(crowd_->contacts.empty() && crowd_->ropes.empty())) return true;
  return std::any_of(model_.contacts.begin(), model_.contacts.end(),
                     [](const Contact& c) { return std::holds_alternative<RigidContact>(c.law); });
}

bool Loader::joint_frictions() const {
  return std::any_of(model_.joints.begin(), model_.joints.end(), [](const Joint& j) { return j.friction.has_value(); });
}

// What only the methods for contact have.
void Loader::contact_scheme(const Object& o) {
  Simulate& s = model_.simulate;
  if (const auto w = o.word("scheme")) {
    const YamlNode& n = *o.find("scheme");
    if (s.method == Method::time_stepping) {
      if (*w == "generalized-alpha")
        s.time_stepping = TimeStepping::generalized_alpha;
      else if (*w != "moreau")
        mistakes_.add(n, fmt::format("`{}` is no scheme of time-stepping", *w), "one of: moreau generalized-alpha");
    } else if (!is_family(s.method)) {
      o.mistake("scheme", "`scheme` goes with the methods event-driven, time-stepping and smooth",
                *w == "moreau" ? "use method: time-stepping" : fmt::format("name it as the method: method: {}", *w));
    } else if (*w == "moreau") {
      mistakes_.add(n, "`moreau` is a scheme of time-stepping", "use method: time-stepping");
    } else {
      for (const auto& [name, method] : method_words())
        if (name == *w) s.scheme = method;
    }
  }
  if (const auto t = o.number("theta")) {
    if (s.method != Method::time_stepping || s.time_stepping != TimeStepping::moreau)
      o.mistake("theta", "`theta` goes with time-stepping by `moreau`");
    else if (!(*t >= 0 && *t <= 1))
      mistakes_.add(*o.find("theta"), fmt::format("`theta` lies between 0 and 1, this is {:.6g}", *t));
    s.theta = *t;
  }
  crowd_settings(o);
}

void Loader::initial(const YamlNode& node) {
  const Object o(reader_, node, object_spec("initial"), "`initial`", scopes_.front());
  if (!o.ok()) return;
  InitialConditions& i = model_.initial;
  i.adjust_positions = o.boolean("adjust_positions").value_or(true);
  i.adjust_velocities = o.boolean("adjust_velocities").value_or(true);
  if (const YamlNode* n = o.find("keep")) {
    const auto names = reader_.names(*n);
    if (!names) return;
    for (const YamlNode* name : *names) {
      if (body_index_.count(name->text) || joint_index_.count(name->text)) {
        i.keep.push_back(name->text);
        continue;
      }
      std::vector<std::string> known;
      for (const auto& b : model_.bodies) known.push_back(b.name);
      for (const auto& j : model_.joints) known.push_back(j.name);
      mistakes_.add(*name, fmt::format("there is no body or joint `{}`", name->text), did_you_mean(name->text, known));
    }
  }
}

// The object a quantity belongs to must exist; what it offers is the engine's to know.
void Loader::check_uses() {
  for (const auto& use : reader_.uses) {
    if (use.name == "t" || use.name == "time") continue;
    const std::string first = use.name.substr(0, use.name.find('.'));
    const auto& global = global_quantities();
    bool known = std::find(global.begin(), global.end(), first) != global.end() || first == "ground";
    for (auto dot = use.name.find('.'); !known && dot != std::string::npos; dot = use.name.find('.', dot + 1))
      known = objects_.count(use.name.substr(0, dot)) > 0;
    if (known) continue;
    std::vector<std::string> names(objects_.begin(), objects_.end());
    names.insert(names.end(), global.begin(), global.end());
    std::sort(names.begin(), names.end());
    if (objects_.count(use.name))
      mistakes_.add(use.source, fmt::format("`{}` is an object; which of its quantities?", use.name),
                    fmt::format("for example `{}.position` or `{}.*`", use.name, use.name));
    else
      mistakes_.add(use.source, fmt::format("there is nothing named `{}` for the quantity `{}`", first, use.name),
                    did_you_mean(first, names));
  }
}

// Every number read is finite, but sums and products of huge ones may not be.
void Loader::check_finite() {
  const auto good = [](const Placement& p) { return p.position.allFinite() && p.rotation.coeffs().allFinite(); };
  const auto report = [&](const Named& n) {
    mistakes_.add(n.source, fmt::format("the numbers of `{}` are too large to compute with", n.name));
  };
  for (const auto& f : model_.ground_frames)
    if (!good(f.placement)) report(f);
  for (const auto& b : model_.bodies) {
    bool fine = (!b.pose || good(*b.pose)) && b.center_of_mass.allFinite() && b.inertia.allFinite();
    fine = fine && (!b.velocity || b.velocity->allFinite()) && (!b.angular_velocity || b.angular_velocity->allFinite());
    if (!fine) report(b);
  }
  for (const auto& j : model_.joints)
    if (!good(j.a.placement) || !good(j.b.placement)) report(j);
  for (const auto& s : model_.shapes)
    if (!good(s.at.placement)) report(s);
  for (const auto& l : model_.loads)
    if (!good(l.at.placement) || (l.reaction && !good(l.reaction->placement))) report(l);
  for (const auto& f : model_.force_elements) {
    const auto* linear = std::get_if<LinearLaw>(&f.law);
    const auto* points = std::get_if<TableLaw>(&f.law);
    const bool table_good =
        !points || std::all_of(points->e.begin(), points->e.end(), [](double e) { return std::isfinite(e); });
    if (!good(f.a.placement) || !good(f.b.placement) || (linear && !std::isfinite(linear->rest)) || !table_good)
      report(f);
  }
}

}  // namespace clatter::loading
