// What `clatter verify --gallery DIR` leaves of a model for the documentation: published against computed as JSON, and
// the course of the first quantity it checks as a picture. Taken from the run that verifies; nothing runs twice.
#pragma once

#include <string>
#include <vector>

#include "study/simulate.hpp"

namespace clatter::app {

// Keeps one column of a run.
class CourseSink final : public study::Sink {
 public:
  explicit CourseSink(int column) : column_(static_cast<std::size_t>(column)) {}
  void sample(double t, std::span<const double> values) override {
    t_.push_back(t);
    x_.push_back(values[column_]);
  }
  void ledger(double, std::span<const double>) override {}
  void event(double t, const StepEvent&) override { events_.push_back(t); }
  void checkpoint(double, std::span<const double>) override {}

  const std::vector<double>& t() const { return t_; }
  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& events() const { return events_; }

 private:
  std::size_t column_;
  std::vector<double> t_, x_, events_;
};

// Which of the checks shows most: the first that is not about energy, whose course is a flat line.
const Check& pictured(const std::vector<Check>& checks);

void draw_course(const CourseSink& course, const std::string& quantity, const std::string& unit,
                 const std::string& path, bool force);

// One entry of gallery.json.
std::string gallery_json(const std::string& model, const std::string& picture, const study::Summary& summary);

}  // namespace clatter::app
