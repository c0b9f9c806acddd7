// What a user reads when a file is not what it should be: one line, the path first, no library noise on stderr.
#include <fcntl.h>
#include <hdf5.h>

#include <fstream>
#include <random>

#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using WrongFiles = ResultFiles;

template <class Work>
std::string message_of(const Work& work) {
  ::testing::internal::CaptureStderr();
  std::string message = "(no error)";
  try {
    work();
  } catch (const ResultError& error) {
    message = error.what();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

void expect_message(const std::string& message, const std::string& path, const std::string& part) {
  EXPECT_EQ(message.rfind(path + ": ", 0), 0U) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

void write_sample(const std::string& path, int steps) {
  Writer writer = sample_writer(path);
  MapRun run;
  for (int i = 0; i < steps; ++i) run.record_step(writer);
  writer.finish(Status::kFinished, "done");
}

TEST_F(WrongFiles, AreNamedWithWhatIsWrong) {
  const auto open = [](const std::string& path) { return message_of([&] { Reader reader(path); }); };
  expect_message(open(file("missing.h5")), file("missing.h5"), "no such file");
  expect_message(open(folder_.string()), folder_.string(), "is a folder");

  std::ofstream(file("empty.h5")).flush();
  expect_message(open(file("empty.h5")), file("empty.h5"), "is empty");

  std::ofstream(file("text.h5")) << "time,x\n0,1\n";
  expect_message(open(file("text.h5")), file("text.h5"), "not an HDF5 file");

  H5Fclose(H5Fcreate(file("old.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  expect_message(open(file("old.h5")), file("old.h5"), "HDF5 file but not a Clatter result");

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Fclose(H5Fcreate(file("foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  H5Pclose(access);
  expect_message(open(file("foreign.h5")), file("foreign.h5"), "HDF5 file but not a Clatter result");
}

TEST_F(WrongFiles, OfANewerFormatAskForANewerProgram) {
  const std::string path = file("newer.h5");
  write_sample(path, 100);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(id, "format_version", H5P_DEFAULT);
  const std::uint64_t version = kFormatVersion + 1;
  H5Awrite(attribute, H5T_NATIVE_UINT64, &version);
  H5Aclose(attribute);
  H5Fclose(id);
  expect_message(message_of([&] { Reader reader(path); }), path, "has format version 3, this program reads up to 2");
}

TEST_F(WrongFiles, CutAnywhereGiveAnErrorAndNeverWrongNumbers) {
  const std::string path = file("whole.h5");
  write_sample(path, 6000);
  const auto size = std::filesystem::file_size(path);
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::string cut = file("cut.h5");
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    // The last rounds take only a few bytes away.
    const auto length = round < 50 ? 1 + random() % (size - 1) : size - static_cast<unsigned>(1 + 100 * (round - 50));
    std::filesystem::resize_file(cut, length);
    const std::string message = message_of([&] {
      const Reader reader(cut);
      EXPECT_TRUE(is_prefix_of_run(reader)) << "wrong data from a file cut to " << length << " of " << size;
    });
    if (message != "(no error)") {
      EXPECT_EQ(message.rfind(cut + ": ", 0), 0U) << message;
    }
  }
}

TEST_F(WrongFiles, WithNoiseInTheMetadataGiveAnErrorOrTheRightNames) {
  const std::string path = file("whole.h5");
  write_sample(path, 300);
  std::mt19937_64 random(6);
  const auto size = std::filesystem::file_size(path);
  int refused = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string noisy = file("noisy.h5");
    std::filesystem::copy_file(path, noisy, std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream stream(noisy, std::ios::in | std::ios::out | std::ios::binary);
      for (int i = 0; i < 8; ++i) {
        stream.seekp(static_cast<std::streamoff>(random() % std::min<std::uintmax_t>(size, 20000)));
        stream.put(static_cast<char>(random()));
      }
    }
    const std::string message = message_of([&] {
      const Reader reader(noisy);
      for (const Channel& c : reader.channels()) reader.read(c.name);
      reader.events();
      reader.last_checkpoint();
    });
    if (message != "(no error)") ++refused;
  }
  EXPECT_GT(refused, 5);  // the first 20 kB are mostly checksummed metadata and texts
}

TEST_F(WrongFiles, AWriterSaysWhyItCannotStartAndLeavesNothingBehind) {
  const auto create = [](const std::string& path) { return message_of([&] { sample_writer(path); }); };
  const std::string nowhere = file("no/such/folder/r.h5");
  expect_message(create(nowhere), nowhere, "does not exist");
  expect_message(create(folder_.string()), folder_.string(), "is a folder");
  expect_message(create("/proc/r.h5"), "/proc/r.h5", "cannot create the file");

  const std::string model = file("model.yaml");
  std::ofstream(model) << "bodies:\n";
  expect_message(create(model), model, "exists and is not a Clatter result");
  EXPECT_EQ(std::filesystem::file_size(model), 8U);

  const auto with = [&](std::vector<Channel> channels) {
    return message_of([&] { Writer::create(file("r.h5"), {}, channels, {}); });
  };
  expect_message(with({{"a", "m", 1, {}, ""}, {"a", "m", 1, {}, ""}}), file("r.h5"), "'a' is recorded twice");
  expect_message(with({{"a", "m", 1, {}, ""}, {"a/b", "m", 1, {}, ""}}), file("r.h5"), "'a' is also the folder");
  expect_message(with({{"a//b", "m", 1, {}, ""}}), file("r.h5"), "not a usable name");
  expect_message(with({{"", "m", 1, {}, ""}}), file("r.h5"), "not a usable name");
  expect_message(with({{"a", "m", 2, {"x"}, ""}}), file("r.h5"), "1 component labels for width 2");
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<std::string>{"model.yaml"});
}

TEST_F(WrongFiles, AFailedStartKeepsTheOlderResult) {
  const std::string path = file("r.h5");
  write_sample(path, 200);
  EXPECT_THROW(Writer::create(path, {}, {{"a//b", "", 1, {}, ""}}, {}), ResultError);
  EXPECT_EQ(Reader(path).rows().samples, 200U);
  write_sample(path, 10);
  EXPECT_EQ(Reader(path).rows().samples, 10U);
}

TEST_F(WrongFiles, MisuseIsAnErrorNotACrash) {
  const std::string path = file("r.h5");
  Writer writer = sample_writer(path);
  const std::vector<double> row(MapRun::kWidth, 0.5);
  expect_message(message_of([&] { writer.append(0.0, std::span(row).first(3)); }), path, "3 values was given for 11");
  expect_message(message_of([&] { writer.checkpoint(0.0, row, {}, {}); }), path, "11, 2, 1 were reserved");
  writer.append(0.0, row);
  writer.finish(Status::kFinished, "");
  expect_message(message_of([&] { writer.append(0.0, row); }), path, "already finished");
  expect_message(message_of([&] { writer.finish(Status::kFailed, ""); }), path, "already finished");
  const Reader reader(path);
  EXPECT_EQ(reader.rows().samples, 1U);
  expect_message(message_of([&] { reader.read("bodies/rod/positon"); }), path, "did you mean 'bodies/rod/position'?");
  expect_message(message_of([&] { reader.checkpoint(3); }), path, "has 0 checkpoints");
  expect_message(message_of([&] { Writer::resume(path, 0); }), path, "has 0 checkpoints");
}

}  // namespace
}  // namespace clatter::record
