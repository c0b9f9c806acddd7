#include "record/writer.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using WriterFiles = ResultFiles;

TEST_F(WriterFiles, AFinishedFileGivesBackEveryBitThatWasRecorded) {
  const std::string path = file("r.h5");
  std::vector<std::vector<double>> kept;
  {
    Writer writer = sample_writer(path);
    std::uint64_t bits = 0x9E3779B97F4A7C15ULL;
    for (int i = 0; i < 10000; ++i) {  // more rows than two chunks hold
      std::vector<double> row(MapRun::kWidth);
      for (double& x : row) {
        // Any bit pattern of a finite number: subnormals and minus zero included.
        do {
          bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
          x = std::bit_cast<double>(bits ^ (bits >> 29U));
        } while (!std::isfinite(x));
      }
      row[0] = i % 3 == 0 ? -0.0 : std::numeric_limits<double>::denorm_min();
      writer.append(i * 0.1, row);
      kept.push_back(row);
    }
    EXPECT_EQ(writer.rows().samples, 10000U);
    writer.finish(Status::kFinished, "done", "line 1\nline 2\n");
  }
  const Reader reader(path);
  EXPECT_EQ(reader.info(), sample_info());
  EXPECT_EQ(reader.channels(), sample_channels());
  EXPECT_EQ(reader.ledger_channels(), ledger_channels());
  EXPECT_EQ(reader.status(), Status::kFinished);
  EXPECT_EQ(reader.message(), "done");
  EXPECT_EQ(reader.summary(), "line 1\nline 2\n");
  EXPECT_FALSE(reader.being_written());
  EXPECT_FALSE(reader.killed());
  ASSERT_EQ(reader.rows(), (RowCounts{10000, 0, 0, 0}));
  std::size_t offset = 0;
  for (const Channel& c : reader.channels()) {
    const RowMatrix m = reader.read(c.name);
    ASSERT_EQ(m.rows(), 10000);
    ASSERT_EQ(m.cols(), c.width);
    for (std::size_t i = 0; i < kept.size(); ++i)
      for (int k = 0; k < c.width; ++k)
        expect_same_bits(m(static_cast<Eigen::Index>(i), k), kept[i][offset + static_cast<std::size_t>(k)], c.name);
    offset += static_cast<std::size_t>(c.width);
  }
  EXPECT_EQ(reader.times(9999).at(0), 9999 * 0.1);
}

TEST_F(WriterFiles, PartialReadsAreTheSameRowsAsTheWhole) {
  const std::string path = file("r.h5");
  {
    Writer writer = sample_writer(path);
    MapRun run;
    for (int i = 0; i < 5000; ++i) run.record_step(writer);
    writer.finish(Status::kFinished, "");
  }
  const Reader reader(path);
  const RowMatrix whole = reader.read("bodies/rod/orientation");
  EXPECT_EQ(reader.read("bodies/rod/orientation", 4090, 20), whole.middleRows(4090, 20));
  EXPECT_EQ(reader.read("bodies/rod/orientation", 4990).rows(), 10);
  EXPECT_EQ(reader.read("bodies/rod/orientation", 6000, 5).rows(), 0);
  EXPECT_EQ(reader.events(2, 1).at(0).text, "step 33");
  EXPECT_TRUE(is_prefix_of_run(reader));
  EXPECT_EQ(reader.rows(), (RowCounts{5000, 714, 454, 100}));
  EXPECT_EQ(reader.last_checkpoint()->counters, std::vector<std::uint64_t>{5000});
}

TEST_F(WriterFiles, LongEventTextsAreCutAtACharacterWithAnEllipsis) {
  const std::string path = file("r.h5");
  std::string greek = "x";
  while (greek.size() < 200) greek += "\xCE\xBB";
  {
    Writer writer = sample_writer(path);
    writer.append_event({1.5, std::string(32, 'k'), greek, std::string(2000, 't')});
    writer.finish(Status::kFinished, std::string(5000, 'm'));
  }
  const Reader reader(path);
  const Event e = reader.events().at(0);
  EXPECT_EQ(e.kind, std::string(32, 'k'));  // fits exactly: untouched
  // 128 bytes less 3 for the ellipsis are 125: the x and 62 two-byte letters.
  EXPECT_EQ(e.element, greek.substr(0, 125) + "\xE2\x80\xA6");
  EXPECT_EQ(e.text, std::string(509, 't') + "\xE2\x80\xA6");
  EXPECT_EQ(reader.message().size(), kMessageBytes);
}

TEST_F(WriterFiles, NothingRecordedIsAlsoAReadableFile) {
  const std::string path = file("r.h5");
  Writer::create(path, {}, {}, {}).finish(Status::kFailed, "inconsistent initial state");
  const Reader reader(path);
  EXPECT_EQ(reader.status(), Status::kFailed);
  EXPECT_EQ(reader.rows(), RowCounts{});
  EXPECT_TRUE(reader.times().empty());
  EXPECT_TRUE(reader.events().empty());
  EXPECT_FALSE(reader.last_checkpoint().has_value());
  EXPECT_EQ(reader.info(), RunInfo{});
}

TEST_F(WriterFiles, AWriterThatGoesOutOfScopeLeavesAnInterruptedFileWithAllItsRows) {
  const std::string path = file("r.h5");
  {
    Writer writer = sample_writer(path);
    MapRun run;
    for (int i = 0; i < 123; ++i) run.record_step(writer);
  }
  const Reader reader(path);
  EXPECT_EQ(reader.status(), Status::kInterrupted);
  EXPECT_EQ(reader.rows().samples, 123U);
}

TEST_F(WriterFiles, TheSameProcessMayReadWhatItIsWriting) {
  const std::string path = file("r.h5");
  Writer writer = sample_writer(path);
  MapRun run;
  for (int i = 0; i < 60; ++i) run.record_step(writer);
  writer.commit();
  {
    Reader reader(path);
    EXPECT_TRUE(reader.being_written());
    EXPECT_EQ(reader.rows().samples, 60U);
    EXPECT_TRUE(is_prefix_of_run(reader));
    for (int i = 0; i < 6000; ++i) run.record_step(writer);
    writer.commit();
    EXPECT_TRUE(reader.refresh());
    EXPECT_EQ(reader.rows().samples, 6060U);
    EXPECT_TRUE(is_prefix_of_run(reader));
  }
  for (int i = 0; i < 60; ++i) run.record_step(writer);
  writer.finish(Status::kFinished, "");
  EXPECT_TRUE(is_prefix_of_run(Reader(path)));
}

TEST_F(WriterFiles, WhatIsNotFiniteIsRefusedByNameAndTheRowsBeforeItStay) {
  const std::string path = file("r.h5");
  Writer writer = sample_writer(path);
  std::vector<double> row(MapRun::kWidth, 1.0);
  writer.append(0.0, row);
  row[7] = std::nan("");
  try {
    writer.append(0.25, row);
    FAIL() << "NaN was recorded";
  } catch (const ResultError& error) {
    EXPECT_NE(std::string(error.what()).find("'energy' component 0 is NaN at t = 0.25 s"), std::string::npos)
        << error.what();
  }
  row[7] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(writer.append(0.25, row), ResultError);
  row[7] = 0;
  EXPECT_THROW(writer.append(-std::numeric_limits<double>::infinity(), row), ResultError);
  EXPECT_THROW(writer.append_event({std::nan(""), "impact", "", ""}), ResultError);
  writer.finish(Status::kFailed, "NaN");
  EXPECT_EQ(Reader(path).rows().samples, 1U);
}

TEST_F(WriterFiles, RecordsMoreThanAMillionNumbersASecond) {
  // 60 channels of 3: what 20 bodies leave. The bound of the claim is far below what is measured, so that a busy
  // machine does not fail it.
  std::vector<Channel> channels;
  for (int i = 0; i < 60; ++i) channels.push_back({"bodies/b" + std::to_string(i) + "/position", "m", 3, {}, ""});
  const std::vector<double> row(180, 1.25);
  Writer writer = Writer::create(file("r.h5"), sample_info(), channels, {});
  const int rows = 100000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rows; ++i) writer.append(i, row);
  writer.finish(Status::kFinished, "");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double rate = rows * 180.0 / seconds;
  std::printf("recorded %.3g doubles/s (%.2f s for %.0f MB)\n", rate, seconds, rows * 180.0 * 8e-6);
  EXPECT_GT(rate, 1e6);
}

TEST_F(WriterFiles, AShortRunOfManyChannelsIsASmallFile) {
  std::vector<Channel> channels;
  for (int i = 0; i < 1000; ++i) channels.push_back({"bodies/b" + std::to_string(i) + "/position", "m", 3, {}, ""});
  const std::vector<double> row(3000, 1.0);
  {
    Writer writer = Writer::create(file("r.h5"), sample_info(), channels, {});
    for (int i = 0; i < 20; ++i) writer.append(i, row);
    writer.finish(Status::kFinished, "");
  }
  // 1000 data sets cost about 1 kB of description each; 20 rows of 24 kB; chunks of 32 rows: under 3 MB in all.
  EXPECT_LT(std::filesystem::file_size(file("r.h5")), 3U << 20U);
  EXPECT_EQ(Reader(file("r.h5")).read("bodies/b999/position").sum(), 60.0);
}

}  // namespace
}  // namespace clatter::record
