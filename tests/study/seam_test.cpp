// What the mathematics throws in the middle of a run reaches the user as a diagnosis with time and names. No model is
// known that leads there (matrices of a step that are singular shorten it instead), so it is thrown where a run hands
// its progress out, between two steps.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "model/load.hpp"
#include "solve/linear_solver.hpp"
#include "study/simulate.hpp"

namespace clatter::study {
namespace {

class Rows final : public Sink {
 public:
  void sample(double, std::span<const double> values) override { look(values); }
  void ledger(double, std::span<const double> values) override { look(values); }
  void event(double, const StepEvent&) override {}
  void checkpoint(double, std::span<const double> memory) override { look(memory); }
  long rows = 0;

 private:
  void look(std::span<const double> values) {
    ++rows;
    for (const double x : values) EXPECT_TRUE(std::isfinite(x));
  }
};

template <class Throw>
Outcome thrown_after(double t, Rows& rows, Throw&& what) {
  Prepared p = prepare(load_model_text(R"(clatter: 1
gravity: [0, -10]
bodies:
  slow: {type: planar, mass: 1, inertia: 1, position: [0, 0]}
  quick: {type: planar, mass: 1, inertia: 1, position: [3, 0], velocity: [50, 0]}
simulate: {method: rk4, step: 10 ms, end: 1 s, output_step: 10 ms}
)",
                                       "seam.yaml"));
  const Observer observer = recorder(p);
  RunRequest request;
  request.sink = &rows;
  request.progress = [&](const clatter::Progress& progress) {
    if (progress.t > t) what();
  };
  return simulate(p, observer, request);
}

TEST(Seam, ASingularMatrixIsADiagnosisWithTimeAndNames) {
  Rows rows;
  const Outcome out = thrown_after(0.495, rows, [] { throw SingularMatrix("unknown 3 depends on the others", 3); });
  EXPECT_FALSE(out.finished);
  ASSERT_TRUE(out.failure);
  EXPECT_EQ(out.failure->kind(), "singular-matrix");
  EXPECT_NEAR(out.failure->time(), 0.5, 1e-12);
  EXPECT_NE(out.failure->message().find("unknown 3 depends on the others"), std::string::npos);
  ASSERT_FALSE(out.failure->elements().empty());
  EXPECT_EQ(out.failure->elements().front().rfind("quick", 0), 0u) << out.failure->elements().front();
  EXPECT_FALSE(out.failure->advice().empty());
  EXPECT_GT(rows.rows, 50);
}

TEST(Seam, AnExceptionThatNobodyKnowsIsADefectByNameAndTime) {
  Rows rows;
  const Outcome out = thrown_after(0.295, rows, [] { throw std::logic_error("a table has no entries"); });
  ASSERT_TRUE(out.failure);
  EXPECT_EQ(out.failure->kind(), "internal-error");
  EXPECT_NEAR(out.failure->time(), 0.3, 1e-12);
  EXPECT_EQ(out.failure->message(), "a table has no entries");
  EXPECT_NE(out.failure->advice().find("defect in Clatter"), std::string::npos);
}

TEST(Seam, NumbersThatAreNotFiniteAreToldAsSuch) {
  Rows rows;
  const Outcome out = thrown_after(0.295, rows, [] { throw std::domain_error("an entry is not finite"); });
  ASSERT_TRUE(out.failure);
  EXPECT_EQ(out.failure->kind(), "not-finite");
}

}  // namespace
}  // namespace clatter::study
