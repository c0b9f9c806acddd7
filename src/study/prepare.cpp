#include "study/prepare.hpp"

#include "study/method.hpp"
#include "study/start.hpp"
#include "study/stress.hpp"

namespace clatter::study {

std::vector<std::string> Prepared::redundant() const {
  std::vector<std::string> names;
  for (const RedundantRow& row : rank.redundant) names.push_back(told().engine->row_name(row.row));
  return names;
}

Prepared prepare(Model model) {
  Prepared p;
  static_cast<Setting&>(p) = compiled(std::move(model));
  find_start(p);
  p.rank = rank_at(*p.told().engine, p.told().start);
  const Model& m = p.system->model;
  p.motion = std::make_unique<contact::Motion>(p.system, *p.engine, m.simulate, run_settings(m).integrator);
  clear_start(p);
  p.extra = p.motion->quantities();
  for (ExtraQuantity& q : stress_quantities(*p.system, *p.engine)) p.extra.push_back(std::move(q));
  return p;
}

}  // namespace clatter::study
