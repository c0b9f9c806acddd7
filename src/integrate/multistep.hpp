// What the multistep schemes have in common (bdf.hpp, adams.hpp): quantities of y = (u, v, z, W), the points of the
// past that lie within one chart, the size of an error, and that the past ends at an event.
#pragma once

#include "integrate/history.hpp"
#include "integrate/integrator.hpp"
#include "integrate/order_control.hpp"

namespace clatter {

class Multistep : public Integrator {
 public:
  Multistep(Dynamics& dynamics, const IntegratorSettings& settings, int highest_order);
  bool controlled() const override { return true; }
  // Of the next step.
  int order() const { return control_.order(); }

 protected:
  // A value, a slope or a divided difference.
  struct Column {
    Vec u, v, z, W;
    void set_zero();
    void add(double w, const Column& x);
    void scale(double w);
  };
  Column make_column() const;

  int error_order() const override { return 1; }
  bool restarts_at_events() const override { return true; }

  // In units of the tolerances; the ledger counts as in the explicit schemes.
  double size(const Column& x);
  double largest_turn(const Vec& u) const;
  // Points have a member `turn`, the largest rotation of a body in the step that led to them. The sum of these bounds
  // what lies between two points, however often a body has turned.
  template <class Point>
  static int points_in_chart(const History<Point>& history) {
    constexpr double kRange = 3;  // rad, clear of the half turn
    double turn = 0;
    int points = 1;
    for (; points < history.size(); ++points) {
      turn += history[points - 1].turn;
      if (turn > kRange) break;
    }
    return points;
  }

  OrderControl control_;
};

}  // namespace clatter
