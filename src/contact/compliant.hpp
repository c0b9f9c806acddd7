// CompliantForces: contacts whose force is a function of penetration and its rate (P-9 to P-11, E-23, E-24).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "contact/contacts.hpp"
#include "integrate/archive.hpp"

namespace clatter::contact {

class CompliantForces {
 public:
  explicit CompliantForces(Contacts& contacts);

  bool any() const { return !slots_.empty(); }
  int inner_states() const { return 0; }
  int event_count() const { return static_cast<int>(slots_.size()); }

  // Forces at the engine's present links: wrenches appended. `z`: this part's inner states.
  void apply(double t, const double* z, std::vector<Engine::LinkWrench>& wrenches);
  void inner_rates(const double* z, double* zdot) const;
  double stored_energy() const;
  // p[group] += power lost (negative) in contacts of that group.
  void powers(std::span<double> p) const;
  void events(double* g) const;
  std::pair<int, int> event_info(int index) const;  // slot, 0 begins or 1 ends
  // The motion has landed on these events: what the laws remember of them (speed of approach) is taken from the
  // engine's present links. The only writer of memory.
  void on_events(std::span<const int> indices);
  void exchange(Archive& archive);
  Vec3 force(int slot) const;  // (r_N, r_1, r_2) as last applied
  void add_tangents(Tangents& out);
  void add_pattern(PatternBuilder& pattern) const;

 private:
  Contacts& contacts_;
  std::vector<int> slots_;
};

}  // namespace clatter::contact
