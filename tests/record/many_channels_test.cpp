// Results with very many quantities: 20 000 channels, as 64 balls have whose every pair is recorded.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "record/export.hpp"
#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using ManyChannels = ResultFiles;

constexpr int kChannels = 20000;

// Names and widths as those of contacts: 8 quantities a pair, every fourth a vector.
std::vector<Channel> many_channels() {
  std::vector<Channel> list;
  for (int i = 0; i < kChannels; ++i) {
    const std::string name =
        "contacts/pile[heap_" + std::to_string(i / 800) + ".ball, heap_" + std::to_string(i / 8 % 100) + ".ball]";
    const std::string quantity = "quantity_" + std::to_string(i % 8);
    if (i % 4 == 0)
      list.push_back({name + "/" + quantity, "N", 3, {"x", "y", "z"}, "force on the first body"});
    else
      list.push_back({name + "/" + quantity, "m", 1, {}, "distance between the two"});
  }
  return list;
}
constexpr int kWidth = kChannels + kChannels / 4 * 2;

// Value k of row i; every one different from all others.
double entry(std::uint64_t i, int k) { return static_cast<double>(i) * 1e6 + k; }

std::vector<double> row_of(std::uint64_t i) {
  std::vector<double> row(kWidth);
  for (int k = 0; k < kWidth; ++k) row[static_cast<std::size_t>(k)] = entry(i, k);
  return row;
}

WriterOptions options() {
  WriterOptions o;
  o.checkpoint.counters = 1;
  return o;
}

void record(Writer& writer, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) {
    writer.append(1e-3 * static_cast<double>(i), row_of(i));
    if (i % 20 == 19) {
      const std::uint64_t next = i + 1;
      writer.checkpoint(1e-3 * static_cast<double>(i), {}, {}, std::span(&next, 1));
    }
  }
}

void expect_rows(const Reader& reader, std::uint64_t rows) {
  ASSERT_EQ(reader.rows().samples, rows);
  ASSERT_EQ(reader.channels(), many_channels());
  int k = 0;
  for (const Channel& c : reader.channels()) {
    const RowMatrix values = reader.read(c.name);
    for (std::uint64_t i = 0; i < rows; ++i)
      for (int j = 0; j < c.width; ++j) ASSERT_EQ(values(static_cast<Eigen::Index>(i), j), entry(i, k + j)) << c.name;
    k += c.width;
  }
}

TEST_F(ManyChannels, AreWrittenReadContinuedAndExported) {
  const std::string path = file("many.h5");
  {
    Writer writer = Writer::create(path, sample_info(), many_channels(), ledger_channels(), options());
    record(writer, 0, 50);
    writer.finish(Status::kInterrupted, "stopped");
  }
  expect_rows(Reader(path), 50);
  {
    Writer writer = Writer::resume(path, 1);
    ASSERT_EQ(writer.rows().samples, 40U);
    record(writer, 40, 70);
    writer.finish(Status::kFinished, "done", "summary");
  }
  const Reader reader(path);
  EXPECT_EQ(reader.status(), Status::kFinished);
  EXPECT_EQ(reader.summary(), "summary");
  expect_rows(reader, 70);

  const std::string table = file("many.csv");
  export_csv(reader, table);
  std::ifstream stream(table);
  std::string header, first;
  ASSERT_TRUE(std::getline(stream, header) && std::getline(stream, first));
  // No name holds a comma outside of quotes: one more field than values.
  EXPECT_EQ(std::count(first.begin(), first.end(), ','), kWidth);
  EXPECT_NE(first.find("," + std::to_string(kWidth - 1)), std::string::npos);
  EXPECT_NE(header.find("quantity_0.y [N]"), std::string::npos);
}

TEST_F(ManyChannels, AreSeenByAReaderBesideTheWriterAndSurviveAKill) {
  const std::string path = file("live.h5");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = in_child([&] {
    Writer writer = Writer::create(path, sample_info(), many_channels(), ledger_channels(), options());
    record(writer, 0, 40);
    const char done = 1;
    if (::write(ends[1], &done, 1) != 1) ::_exit(98);
    ::pause();
  });
  ::close(ends[1]);
  char done = 0;
  ASSERT_EQ(::read(ends[0], &done, 1), 1) << "the writer failed";
  ::close(ends[0]);
  {
    const Reader reader(path);
    EXPECT_TRUE(reader.being_written());
    expect_rows(reader, 40);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(Reader(path).killed());
}

// Records without end in a file that may grow by `room` bytes after its creation, which stands for a disk that fills
// up; then ends the process as a program does, with everything that runs at its exit. Returns the error's text.
std::string record_until_full(const std::string& path, const std::vector<Channel>& channels, std::uint64_t room) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    std::string message;
    {
      Writer writer = Writer::create(path, sample_info(), channels, ledger_channels(), options());
      const std::uint64_t size = std::filesystem::file_size(path) + room;
      const rlimit limit{size, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::vector<double> row;
      for (const Channel& c : channels) row.resize(row.size() + static_cast<std::size_t>(c.width), 0.5);
      try {
        for (std::uint64_t i = 0;; ++i) {
          writer.append(1e-3 * static_cast<double>(i), row);
          if (i % 20 == 19) writer.checkpoint(1e-3 * static_cast<double>(i), {}, {}, std::span(&i, 1));
        }
      } catch (const ResultError& error) {
        message = error.what();
      }
      // Whoever goes on after the failure is told so, and harms nothing.
      try {
        writer.append(0, row);
        message += " (went on)";
      } catch (const ResultError&) {
      }
    }
    if (::write(ends[1], message.data(), message.size()) < 0) ::_exit(98);
    std::exit(17);
  });
  ::close(ends[1]);
  std::string message(4096, '\0');
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], message.data(), message.size()))));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status) << " with room for " << room;
  EXPECT_EQ(WEXITSTATUS(status), 17);
  return message;
}

void expect_kept(const std::string& path, const std::string& message, std::size_t channels) {
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(message.find("went on"), std::string::npos) << message;
  const Reader reader(path);
  EXPECT_EQ(reader.status(), Status::kFailed);
  EXPECT_EQ(reader.message(), message);
  ASSERT_EQ(reader.channels().size(), channels);
  for (std::size_t i = 0; i < channels; i += 97) {
    const RowMatrix values = reader.read(reader.channels()[i].name);
    EXPECT_TRUE((values.array() == 0.5).all());
  }
}

TEST_F(ManyChannels, OnADiskThatFillsUpEndWithAMessageAndKeepWhatWasRecorded) {
  for (const std::uint64_t room : {std::uint64_t{0}, std::uint64_t{300'000}, std::uint64_t{9'000'000}}) {
    const std::string path = file("full" + std::to_string(room) + ".h5");
    expect_kept(path, record_until_full(path, many_channels(), room), kChannels);
  }
}

TEST_F(ManyChannels, OrFewOfThemEndWithoutACrashWhereverTheDiskIsFull) {
  // Forty places between two commits: in the chunks, their indices, the object headers, the last page.
  for (std::uint64_t room = 0; room < 400'000; room += 10'007) {
    const std::string path = file("full" + std::to_string(room) + ".h5");
    expect_kept(path, record_until_full(path, sample_channels(), room), sample_channels().size());
  }
}

}  // namespace
}  // namespace clatter::record
