#include "model/method_words.hpp"

namespace clatter {

const std::vector<std::pair<std::string, Method>>& method_words() {
  static const std::vector<std::pair<std::string, Method>> all{{"rk4", Method::rk4},
                                                               {"dopri5", Method::dopri5},
                                                               {"radau5", Method::radau5},
                                                               {"generalized-alpha", Method::generalized_alpha},
                                                               {"newmark", Method::newmark},
                                                               {"hht", Method::hht},
                                                               {"euler", Method::euler},
                                                               {"symplectic-euler", Method::symplectic_euler},
                                                               {"verlet", Method::verlet},
                                                               {"bdf", Method::bdf},
                                                               {"adams", Method::adams},
                                                               {"event-driven", Method::event_driven},
                                                               {"time-stepping", Method::time_stepping},
                                                               {"smooth", Method::smooth}};
  return all;
}

}  // namespace clatter
