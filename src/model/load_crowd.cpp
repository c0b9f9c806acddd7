// Contacts of a crowd: groups of shapes and ropes instead of pairs (model/crowd.hpp), and how their impulses are found.
#include "model/crowd.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/loader.hpp"

namespace clatter::loading {

namespace {

// More bodies than this are a crowd: a slot for each pair (4.4 kB) and the factors of Newton's method would then cost
// more than sweeps.
constexpr std::size_t kCrowd = 100;
// Each has its slots, evaluated in every step as far as its shapes are near.
constexpr std::size_t kMostCompliant = 100'000;

const YamlNode* value_of(const YamlNode& map, const char* key) {
  const YamlNode::Entry* e = map.kind == YamlNode::Kind::map ? map.find(key) : nullptr;
  return e != nullptr ? e->node : nullptr;
}

std::string word_of(const YamlNode* simulate, const char* key) {
  const YamlNode* n = simulate ? value_of(*simulate, key) : nullptr;
  return n && n->kind == YamlNode::Kind::scalar ? n->text : std::string();
}

}  // namespace

void Loader::decide_crowd() {
  const YamlNode* study = main_value("simulate");
  const std::string scheme = word_of(study, "scheme"), solver = word_of(study, "contact_solver");
  if (word_of(study, "method") != "time-stepping" || scheme == "generalized-alpha" || solver == "newton") return;
  bool ropes = false;
  for (const auto& w : work_)
    for (const auto* e : w.sections.contacts) ropes = ropes || value_of(*e->node, "rope") != nullptr;
  if ((!solver.empty() && solver != "auto") || ropes || model_.bodies.size() > kCrowd)
    crowd_ = std::make_shared<CrowdModel>();
}

// Two shapes meet by the first entry that has them: a compliant one leaves to the crowd what its entries above have.
void Loader::leave_to_crowd(const Object& o, std::vector<std::pair<int, int>>& pairs, const YamlNode& at) {
  const auto has = [](const std::vector<int>& list, int i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  };
  for (const CrowdContact& entry : crowd_->contacts)
    std::erase_if(pairs, [&](const auto& pair) {
      const auto& [i, k] = pair;
      return (has(entry.first, i) && has(entry.second, k)) || (has(entry.first, k) && has(entry.second, i));
    });
  if (pairs.size() <= kMostCompliant) return;
  mistakes_.add(at,
                fmt::format("the law of {} is compliant, and {} pairs of shapes are more than compliant contacts are "
                            "looked for between",
                            o.what(), pairs.size()),
                fmt::format("name fewer shapes (at most {} pairs), or give a rigid law", kMostCompliant));
}

const RigidContact* Loader::crowd_law(const Object& o, const Contact& c) {
  const auto* law = std::get_if<RigidContact>(&c.law);
  if (law == nullptr) {
    mistakes_.add(*o.find("law"), fmt::format("the law of {} is compliant; a rope is rigid", o.what()),
                  "give a rigid law, or a spring in the place of the rope");
    return nullptr;
  }
  return law;
}

void Loader::crowd_entry(const Object& o, Contact c, bool among, std::vector<int> first, std::vector<int> second,
                         const YamlNode& at) {
  const RigidContact* law = crowd_law(o, c);
  if (law == nullptr) return;
  const auto shape = [&](int i) -> const ContactShape& { return model_.shapes[static_cast<std::size_t>(i)]; };
  bool apart = false;
  for (const int i : first) apart = apart || shape(i).at.body != shape(second.front()).at.body;
  for (const int k : second) apart = apart || shape(k).at.body != shape(first.front()).at.body;
  if (!apart) {
    mistakes_.add(at, fmt::format("{} has no two shapes on different bodies", o.what()));
    return;
  }
  for (const int i : first)
    if (!can_touch(shape(i), shape(second.front()), at)) return;
  for (const int k : second)
    if (!can_touch(shape(first.front()), shape(k), at)) return;
  CrowdContact entry;
  entry.name = c.name;
  entry.source = c.source;
  entry.among = among;
  entry.first = std::move(first);
  entry.second = std::move(second);
  entry.law = *law;
  crowd_->contacts.push_back(std::move(entry));
}

void Loader::rope(const Object& o, Contact c, bool lawful, const YamlNode::Entry& e) {
  const YamlNode& n = *o.find("rope");
  if (!crowd_) {
    mistakes_.add(n, "ropes need time stepping by the solvers for crowds",
                  "use method: time-stepping, without contact_solver: newton");
    return;
  }
  if (n.kind != YamlNode::Kind::list || n.items.size() != 2) {
    mistakes_.add(n, "`rope` takes a list of two places");
    return;
  }
  auto a = place(*n.items[0], o.scope()), b = place(*n.items[1], o.scope());
  if (!a || !b) return;
  if (a->body == b->body) {
    mistakes_.add(n, fmt::format("both ends of {} are on the same body", o.what()));
    return;
  }
  const RigidContact* law = lawful ? crowd_law(o, c) : nullptr;
  const std::size_t before = mistakes_.count();
  if (law != nullptr && (law->rolling > 0 || law->drilling > 0))
    mistakes_.add(*o.find("law"), fmt::format("{} is a rope: nothing rolls or drills on it", o.what()),
                  "leave out `rolling_friction` and `drilling_friction`");
  const auto length = o.positive("length");
  if (law == nullptr || mistakes_.count() != before) return;
  CrowdRope rope;
  rope.name = c.name;
  rope.source = c.source;
  rope.law = *law;
  if (length) {
    rope.length = *length;
  } else {
    const auto at_a = start_pose(*a), at_b = start_pose(*b);
    if (at_a && at_b) rope.length = (at_a->position - at_b->position).norm();
    if (!(rope.length > 0)) {
      mistakes_.add(n, fmt::format("the length of {} cannot be seen from where its ends are at the start", o.what()),
                    "give its `length`");
      return;
    }
  }
  rope.a = std::move(*a);
  rope.b = std::move(*b);
  count_object(e);
  crowd_->ropes.push_back(std::move(rope));
}

// Of a crowd without entries nothing is left: all contacts are pairs.
void Loader::keep_crowd() {
  if (!crowd_ || (crowd_->contacts.empty() && crowd_->ropes.empty())) return;
  for (const Contact& c : model_.contacts)
    if (c.first >= 0) crowd_->apart.push_back(std::minmax(c.first, c.second));
  std::sort(crowd_->apart.begin(), crowd_->apart.end());
  model_.crowd = std::move(crowd_);
}

void Loader::crowd_settings(const Object& o) {
  const Simulate& s = model_.simulate;
  const bool moreau = s.method == Method::time_stepping && s.time_stepping == TimeStepping::moreau;
  const auto solver = o.word("contact_solver");
  if (solver && !moreau)
    o.mistake("contact_solver", "`contact_solver` goes with time-stepping by `moreau`", "use method: time-stepping");
  for (const char* key : {"friction_model", "contact_iterations", "contact_tolerance", "threads"})
    if (o.has(key) && !crowd_)
      o.mistake(key, fmt::format("`{}` goes with time-stepping by the solvers for crowds", key),
                "use contact_solver: gauss-seidel");
  if (!crowd_) return;
  if (o.has("theta")) o.mistake("theta", "the solvers for crowds take the forces at the begin of a step: no `theta`");
  if (solver)
    crowd_->solver = *solver == "apgd" || *solver == "gradients" ? CrowdSolver::apgd
                     : *solver == "barzilai-borwein"             ? CrowdSolver::barzilai_borwein
                     : *solver == "semismooth-newton"            ? CrowdSolver::newton
                                                                 : CrowdSolver::gauss_seidel;
  if (const auto w = o.word("friction_model"))
    crowd_->friction = *w == "relaxed" ? FrictionModel::relaxed : FrictionModel::exact;
  crowd_->iterations = whole(o, "contact_iterations", 1, 1'000'000).value_or(0);
  crowd_->tolerance = o.positive("contact_tolerance").value_or(0);
  crowd_->threads = whole(o, "threads", 1, 256).value_or(1);
}

}  // namespace clatter::loading
