#include "app/text.hpp"

#include <gtest/gtest.h>

#include "app/progress.hpp"

namespace clatter::app {
namespace {

TEST(Text, NumbersAreShortAndReadable) {
  EXPECT_EQ(number(0.0125), "0.0125");
  EXPECT_EQ(number(-0.0), "0");
  EXPECT_EQ(number(3.2e-9), "3.2e-09");
  EXPECT_EQ(number(1.0 / 3, 3), "0.333");
  EXPECT_EQ(whole(0), "0");
  EXPECT_EQ(whole(999), "999");
  EXPECT_EQ(whole(1234567), "1 234 567");
  EXPECT_EQ(counted(1, "body", "bodies"), "1 body");
  EXPECT_EQ(counted(2, "body", "bodies"), "2 bodies");
  EXPECT_EQ(counted(1000, "step"), "1 000 steps");
}

TEST(Text, DurationsUseTheUnitAPersonWould) {
  EXPECT_EQ(duration(0.424), "0.42 s");
  EXPECT_EQ(duration(59.9), "59.9 s");
  EXPECT_EQ(duration(59.96), "1 min 0 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(2 * 3600 + 300), "2 h 5 min");
  EXPECT_EQ(duration(-1), "?");
  EXPECT_EQ(duration(1e300), "years");
}

TEST(Text, ListsReadAsSentences) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST(Text, TablesLineUpAlsoWithLettersOfSeveralBytes) {
  Table table({"name", "value"}, {Table::Align::left, Table::Align::right});
  table.row({"\u03b1", "1"});
  table.row({"beta-angle", "-20"});
  EXPECT_EQ(table.text(1),
            " name        value\n"
            " \u03b1               1\n"
            " beta-angle    -20\n");
}

TEST(Progress, TellsTimeSpeedRemainingStepAndEvents) {
  ProgressReport r;
  r.end = 10;
  r.t = 2.5;
  r.step = 1e-3;
  r.steps = 2500;
  r.events = 3;
  r.wall = 5;
  // 2.5 simulated seconds in 5 s: 0.5 s/s, and the other 7.5 need 15 s.
  EXPECT_EQ(progress_text(r, 0, false), " 25%  t 2.5 of 10 s  0.5 s/s  15.0 s left  h 0.001 s  2 500 steps  3 events");
  EXPECT_EQ(progress_text(r, 8, false).substr(0, 10), "[##......]");
}

TEST(Progress, AContinuedRunIsTimedFromWhereItWentOn) {
  ProgressReport r;
  r.end = 10;
  r.first = 8;
  r.t = 9;
  r.wall = 1;
  EXPECT_NE(progress_text(r, 0, false).find("1 s/s  1.00 s left"), std::string::npos);
}

}  // namespace
}  // namespace clatter::app
