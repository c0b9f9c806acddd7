// Blocks of numbers against the rows they were made of (MapRun is chaotic: any wrong row shows).
#include "view/blocks.hpp"

#include <cmath>
#include <cstring>

#include "record/result_fixture.hpp"

namespace clatter::view {

using record::Reader;
using record::test::MapRun;

class Blocks : public record::test::ResultFiles {
 protected:
  static std::vector<double> numbers(const std::string& bytes) {
    std::vector<double> out(bytes.size() / sizeof(double));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  Reader result(int steps) const {
    const std::string path = file("r.h5");
    record::Writer writer = record::Writer::create(path, record::test::sample_info(), record::test::sample_channels(),
                                                   record::test::ledger_channels(), record::test::sample_options());
    MapRun run;
    for (int i = 0; i < steps; ++i) run.record_step(writer);
    writer.finish(record::Status::kFinished, "");
    return Reader(path);
  }
};

TEST_F(Blocks, RowsHoldTimesAndTheChannelsAskedForInTheOrderAskedFor) {
  const Reader reader = result(100);
  const std::vector<double> block = numbers(rows_block(reader, {TableName::samples, {2, 0}, 10, 5, 1}));
  ASSERT_EQ(block.size(), 1U + 5 + 5 + 15);
  EXPECT_EQ(block[0], 5);
  const auto energy = reader.read("energy", 10, 5);
  const auto position = reader.read("bodies/rod/position", 10, 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(block[static_cast<std::size_t>(1 + i)], reader.times(10, 5)[static_cast<std::size_t>(i)]);
    EXPECT_EQ(block[static_cast<std::size_t>(6 + i)], energy(i, 0));
    for (int k = 0; k < 3; ++k) EXPECT_EQ(block[static_cast<std::size_t>(11 + 3 * i + k)], position(i, k));
  }
}

TEST_F(Blocks, SkippingRowsGivesTheSameRowsWhetherTheyAreReadAtOnceOrOneByOne) {
  const Reader reader = result(300);
  const auto all = reader.read("bodies/rod/position");
  for (const std::uint64_t stride : {2U, 7U, 31U, 32U, 50U}) {
    const std::vector<double> block = numbers(rows_block(reader, {TableName::samples, {0}, 3, 1000, stride}));
    const auto n = static_cast<std::size_t>(block[0]);
    ASSERT_EQ(n, (297 + stride - 1) / stride) << stride;
    ASSERT_EQ(block.size(), 1 + n + 3 * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(block[1 + n + 3 * i + k],
                  all(static_cast<Eigen::Index>(3 + i * stride), static_cast<Eigen::Index>(k)));
  }
}

TEST_F(Blocks, RowsBeyondTheEndAreNone) {
  const Reader reader = result(10);
  EXPECT_EQ(numbers(rows_block(reader, {TableName::samples, {0}, 10, 5, 1})), std::vector<double>{0});
  EXPECT_EQ(numbers(rows_block(reader, {TableName::ledger, {0}, 1000000, 5, 40})), std::vector<double>{0});
}

TEST_F(Blocks, ASeriesWithRoomForAllRowsIsAllRowsWithANeighbourAtEachEnd) {
  const Reader reader = result(100);
  const Series s = series(reader, {TableName::samples, 2, 0, 0.0205, 0.0305, 1000});
  ASSERT_EQ(s.t.size(), 12U);  // 0.021 .. 0.030, and 0.020 and 0.031
  EXPECT_EQ(s.t.front(), 0.020);
  EXPECT_EQ(s.t.back(), 0.031);
  EXPECT_EQ(s.x[3], reader.read("energy")(22, 0));
}

TEST_F(Blocks, AThinnedSeriesKeepsTheExtremesOfEveryGroup) {
  const Reader reader = result(1000);
  const Series s = series(reader, {TableName::samples, 2, 0, -1e9, 1e9, 50});
  EXPECT_LE(s.t.size(), 50U);
  EXPECT_GE(s.t.size(), 25U);
  const auto all = reader.read("energy");
  EXPECT_EQ(*std::max_element(s.x.begin(), s.x.end()), all.maxCoeff());
  EXPECT_EQ(*std::min_element(s.x.begin(), s.x.end()), all.minCoeff());
  EXPECT_TRUE(std::is_sorted(s.t.begin(), s.t.end()));
}

TEST_F(Blocks, TheLengthOfAVectorIsASeriesToo) {
  const Reader reader = result(20);
  const Series s = series(reader, {TableName::samples, 0, -1, -1e9, 1e9, 100});
  const auto position = reader.read("bodies/rod/position");
  ASSERT_EQ(s.x.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(s.x[static_cast<std::size_t>(i)], position.row(i).norm());
}

TEST_F(Blocks, ARowIsFoundByItsTime) {
  const Reader reader = result(100);  // t = 0.001 .. 0.100
  EXPECT_EQ(row_at(reader, TableName::samples, -1), 0U);
  EXPECT_EQ(row_at(reader, TableName::samples, reader.times()[42]), 42U);
  EXPECT_EQ(row_at(reader, TableName::samples, 0.0425), 42U);
  EXPECT_EQ(row_at(reader, TableName::samples, 7), 100U);
}

}  // namespace clatter::view
