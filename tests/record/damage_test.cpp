// Damaged results: whatever byte of a file is changed, its numbers are the same or the reader says that they are not.
#include <fcntl.h>

#include <fstream>
#include <random>

#include "base/checksum.hpp"
#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using Damaged = ResultFiles;

// Everything a reader gives, as one text.
std::string all_of(const std::string& path) {
  const Reader reader(path);
  std::string out = reader.message() + "|" + reader.summary() + "|" + std::string(to_string(reader.status()));
  const auto number = [&](double x) { out.append(reinterpret_cast<const char*>(&x), sizeof x); };
  const auto table = [&](const std::vector<double>& t, const std::vector<Channel>& channels, bool ledger) {
    for (const double x : t) number(x);
    for (const Channel& c : channels) {
      out += c.name + c.unit + c.description;
      const RowMatrix rows = ledger ? reader.read_ledger(c.name) : reader.read(c.name);
      for (const double x : rows.reshaped<Eigen::RowMajor>()) number(x);
    }
  };
  table(reader.times(), reader.channels(), false);
  table(reader.ledger_times(), reader.ledger_channels(), true);
  for (const Event& e : reader.events()) {
    number(e.t);
    out += e.kind + e.element + e.text;
  }
  for (std::uint64_t i = 0; i < reader.rows().checkpoints; ++i) {
    const Checkpoint c = reader.checkpoint(i);
    number(c.t);
    for (const auto* part : {&c.state, &c.memory})
      for (const double x : *part) number(x);
    for (const std::uint64_t n : c.counters) out += std::to_string(n) + ",";
    for (const std::uint64_t n : {c.rows.samples, c.rows.ledger, c.rows.events, c.rows.checkpoints})
      out += std::to_string(n) + ",";
  }
  const RunInfo& info = reader.info();
  for (const SourceFile& file : info.model_files) out += file.path + file.text;
  for (const auto& [key, value] : info.settings) out += key + value;
  for (const auto& [key, value] : info.inputs) out += key + value;
  for (const Surface& s : info.surfaces)
    for (const float x : s.vertices) number(static_cast<double>(x));
  return out + info.scene + info.model_name + info.model_hash + info.started;
}

struct Tally {
  int same = 0, refused = 0;
};

// `rounds` copies of the file, each with one byte changed at random.
Tally flip_bytes(const std::string& path, const std::string& copy, int rounds, unsigned seed) {
  const std::string wanted = all_of(path);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::mt19937_64 random(seed);
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes;
    const std::size_t at = random() % bytes.size();
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random() % 255));
    std::filesystem::remove(copy);
    std::ofstream(copy, std::ios::binary) << damaged;
    try {
      EXPECT_TRUE(all_of(copy) == wanted) << "byte " << at << " of " << bytes.size() << " changed what was read";
      ++tally.same;
    } catch (const ResultError& error) {
      EXPECT_EQ(std::string(error.what()).find(copy + ": "), 0U) << error.what();
      ++tally.refused;
    }
  }
  return tally;
}

std::string finished_result(const std::string& path, int steps) {
  RunInfo info = sample_info();
  info.inputs = {{"mesh.inp", std::string(64, 'b')}};
  Writer writer = Writer::create(path, info, sample_channels(), ledger_channels(), sample_options());
  MapRun run;
  for (int i = 0; i < steps; ++i) run.record_step(writer);
  writer.finish(Status::kFinished, "done", "a summary with 1.25 J");
  return path;
}

TEST_F(Damaged, ResultsGiveTheSameNumbersOrAnErrorWhicheverByteIsChanged) {
  // 9000 rows: two whole blocks of 4096 and a part of one.
  const Tally tally = flip_bytes(finished_result(file("r.h5"), 9000), file("copy.h5"), 200, 1);
  EXPECT_GT(tally.refused, 130);  // most of the file is numbers
}

TEST_F(Damaged, ResultsOfShortAndOfKilledRunsDoToo) {
  flip_bytes(finished_result(file("short.h5"), 60), file("copy.h5"), 100, 2);
  const std::string killed = file("killed.h5");
  const pid_t child = in_child([&] {
    Writer writer = sample_writer(killed);
    MapRun run;
    for (int i = 0; i < 700; ++i) run.record_step(writer);
    writer.commit();
    ::_exit(0);
  });
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(Reader(killed).killed());
  flip_bytes(killed, file("copy.h5"), 60, 3);
}

TEST_F(Damaged, WideTablesAndFieldsOf32BitDoToo) {
  std::vector<Channel> channels;
  for (int i = 0; i < 1100; ++i) channels.push_back({"c" + std::to_string(i), "m", 1, {}, ""});
  channels.push_back({"stress", "Pa", 5, {}, "", true});
  const std::string path = file("wide.h5");
  {
    Writer writer = Writer::create(path, {}, channels, {});
    std::vector<double> row(1105);
    for (int i = 0; i < 100; ++i) {
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = 0.1 * i + static_cast<double>(k) / 3;
      writer.append(i, row);
      if (i % 7 == 0) writer.commit();
    }
    writer.finish(Status::kFinished, "");
  }
  EXPECT_EQ(Reader(path).read("stress")(99, 4), static_cast<double>(static_cast<float>(9.9 + 1104.0 / 3)));
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = std::filesystem::file_size(path);
  // One number in the middle of the table, far from all metadata: its own stripe is refused, others are still there.
  std::string bytes(size, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  const double wanted = 0.1 * 50 + 700.0 / 3;
  const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&wanted), sizeof wanted));
  ASSERT_NE(at, std::string::npos);
  stream.seekp(static_cast<std::streamoff>(at + 3));
  stream.put(static_cast<char>(bytes[at + 3] ^ 1));
  stream.close();
  const Reader reader(path);
  EXPECT_THROW(reader.read("c700"), ResultError);
  EXPECT_NO_THROW(reader.read("c0"));
  EXPECT_NO_THROW(reader.times());
}

// The sums can be made by any program that has CRC-32C, whatever the processor.
TEST_F(Damaged, SumsAreCrc32cWithAndWithoutTheInstruction) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xE3069283U);  // the check value of the catalogue of CRCs
  EXPECT_EQ(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xE3069283U);
  EXPECT_EQ(crc32c(7, nullptr, 0), 7U);
  std::mt19937 random(9);
  std::string bytes(1000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (std::size_t n = 0; n < 100; ++n)
    EXPECT_EQ(crc32c(n & 0xFFU, bytes.data() + n, 9 * n), crc32c_by_table(n & 0xFFU, bytes.data() + n, 9 * n)) << n;
}

}  // namespace
}  // namespace clatter::record
