// Runs killed without warning, readers beside a writer, and going on after a kill. Writers are child processes.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <random>
#include <thread>

#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using KilledRuns = ResultFiles;
using std::chrono::microseconds;

// A child that records without end and tells through a pipe, after each commit, how many rows are safe.
struct EndlessRun {
  pid_t child = -1;
  int pipe_end = -1;

  EndlessRun(const std::string& path, unsigned seed, microseconds rest = microseconds(0)) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    child = in_child([&] {
      Writer writer = sample_writer(path);
      MapRun run;
      std::minstd_rand random(seed);
      for (;;) {
        for (unsigned i = random() % 300; i > 0; --i) run.record_step(writer);
        writer.commit();
        const std::uint64_t safe = writer.rows().samples;
        if (::write(ends[1], &safe, sizeof safe) != sizeof safe) ::_exit(98);
        std::this_thread::sleep_for(rest);
      }
    });
    ::close(ends[1]);
    pipe_end = ends[0];
  }

  // Waits for the first commit, then a while, then kills. Returns the rows the child knew to be safe.
  std::uint64_t kill_after(microseconds wait) {
    std::uint64_t safe = 0;
    EXPECT_EQ(::read(pipe_end, &safe, sizeof safe), static_cast<ssize_t>(sizeof safe));
    ::fcntl(pipe_end, F_SETFL, O_NONBLOCK);
    const auto end = std::chrono::steady_clock::now() + wait;
    while (std::chrono::steady_clock::now() < end) {  // an unread pipe would stop the child
      while (::read(pipe_end, &safe, sizeof safe) > 0) {
      }
      std::this_thread::sleep_for(microseconds(50));
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself, code " << WEXITSTATUS(status);
    while (::read(pipe_end, &safe, sizeof safe) > 0) {
    }
    ::close(pipe_end);
    return safe;
  }
};

TEST_F(KilledRuns, KeepEveryCommittedRowAndShowNoHalfOne) {
  std::mt19937 random(20260101);
  for (unsigned round = 0; round < 20; ++round) {
    const std::string path = file("killed.h5");
    std::filesystem::remove(path);
    EndlessRun run(path, round + 1);
    const std::uint64_t safe = run.kill_after(microseconds(random() % 40000));
    const Reader reader(path);
    EXPECT_TRUE(reader.killed());
    EXPECT_EQ(reader.status(), Status::kRunning);
    EXPECT_GE(reader.rows().samples, safe) << "round " << round;
    EXPECT_TRUE(is_prefix_of_run(reader)) << "round " << round << ", " << reader.rows().samples << " rows";
  }
}

TEST_F(KilledRuns, GoOnFromTheirLastCheckpointAndEndAsIfNeverKilled) {
  std::mt19937 random(20260102);
  const std::string path = file("killed.h5");
  for (unsigned round = 0; round < 5; ++round) {
    std::filesystem::remove(path);
    EndlessRun endless(path, round + 100);
    endless.kill_after(microseconds(2000 + random() % 30000));
    MapRun run;
    std::uint64_t last = 0;
    {
      const Reader reader(path);
      ASSERT_GT(reader.rows().checkpoints, 0U);
      last = reader.rows().checkpoints - 1;
      if (round == 4) last /= 2;  // any checkpoint will do, not only the last
      run.restore(reader.checkpoint(last));
    }
    Writer writer = Writer::resume(path, last);
    ASSERT_EQ(writer.rows().samples, run.step);
    ASSERT_EQ(writer.rows().checkpoints, last + 1);
    const std::uint64_t end = run.step + 3333;
    while (run.step < end) run.record_step(writer);
    writer.finish(Status::kFinished, "done", "summary");

    const Reader resumed(path);
    EXPECT_EQ(resumed.rows(), (RowCounts{end, end / 7, end / 11, end / 50}));
    EXPECT_TRUE(is_prefix_of_run(resumed));  // the uninterrupted run is this formula
    EXPECT_EQ(resumed.info(), sample_info());
    EXPECT_EQ(resumed.channels(), sample_channels());
  }
}

TEST_F(KilledRuns, AKillDuringResumeLeavesAFileThatCanBeResumed) {
  const std::string path = file("killed.h5");
  {
    Writer writer = sample_writer(path);
    MapRun run;
    for (int i = 0; i < 40000; ++i) run.record_step(writer);
  }
  std::mt19937 random(20260103);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = in_child([&] {
      Writer writer = Writer::resume(path, 799);
      ::pause();
    });
    std::this_thread::sleep_for(microseconds(random() % 60000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const Reader reader(path);
    EXPECT_EQ(reader.rows().samples, 40000U);
    EXPECT_EQ(reader.last_checkpoint()->counters.at(0), 40000U);
    EXPECT_TRUE(is_prefix_of_run(reader));
  }
}

TEST_F(KilledRuns, AFinishedRunCanBeExtended) {
  const std::string path = file("r.h5");
  MapRun run;
  {
    Writer writer = sample_writer(path);
    for (int i = 0; i < 5000; ++i) run.record_step(writer);
    writer.finish(Status::kFinished, "done");
  }
  Writer writer = Writer::resume(path, 99);
  for (int i = 0; i < 500; ++i) run.record_step(writer);
  writer.finish(Status::kFinished, "longer");
  EXPECT_TRUE(is_prefix_of_run(Reader(path)));
  EXPECT_EQ(Reader(path).rows().samples, 5500U);
}

TEST_F(KilledRuns, AReaderBesideTheWriterSeesOnlyWholeRowsAndEverMoreOfThem) {
  const std::string path = file("live.h5");
  EndlessRun run(path, 7, microseconds(5000));
  std::uint64_t safe = 0;
  ASSERT_EQ(::read(run.pipe_end, &safe, sizeof safe), static_cast<ssize_t>(sizeof safe));
  std::thread drain([&] {
    std::uint64_t ignored = 0;
    while (::read(run.pipe_end, &ignored, sizeof ignored) > 0) {
    }
  });
  // The reader is a process of its own, as a plotting program would be.
  const pid_t child = in_child([&] {
    Reader reader(path);
    if (!reader.being_written() || reader.killed()) ::_exit(1);
    std::uint64_t before = reader.rows().samples;
    int growths = 0;
    for (int i = 0; i < 40; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      reader.refresh();
      const std::uint64_t now = reader.rows().samples;
      if (now < before) ::_exit(2);
      if (now > before) ++growths;
      before = now;
      if (!is_prefix_of_run(reader)) ::_exit(3);
    }
    ::_exit(growths > 5 ? 0 : 4);
  });
  int status = 0;
  ::waitpid(child, &status, 0);
  ::kill(run.child, SIGKILL);
  ::waitpid(run.child, nullptr, 0);
  drain.join();
  ::close(run.pipe_end);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1 not live, 2 shrank, 3 wrong data, 4 did not grow, 99 exception";
}

TEST_F(KilledRuns, RowsBecomeVisibleWithinTheCommitInterval) {
  const std::string path = file("slow.h5");
  const pid_t child = in_child([&] {
    Writer writer = sample_writer(path);
    MapRun run;
    for (;;) {  // far too few rows to fill a chunk
      run.advance();
      writer.append(run.t(), run.x);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  // Twice the interval and a second for a busy machine.
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  {
    const Reader reader(path);
    EXPECT_GT(reader.rows().samples, 0U);
    EXPECT_TRUE(reader.being_written());
  }
  EXPECT_THROW(Writer::resume(path, 0), ResultError);
  EXPECT_THROW(sample_writer(path), ResultError);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(Reader(path).killed());
}

TEST_F(KilledRuns, AFullDiskIsReportedAndKeepsWhatWasCommitted) {
  const std::string path = file("full.h5");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = in_child([&] {
    // The file-size limit stands for the full disk: both make write() fail in the middle of a commit.
    ::signal(SIGXFSZ, SIG_IGN);
    Writer writer = sample_writer(path);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    MapRun run;
    try {
      for (;;) run.record_step(writer);
    } catch (const ResultError& error) {
      const std::string message = error.what();
      if (::write(ends[1], message.data(), message.size()) < 0) ::_exit(98);
    }
  });
  ::close(ends[1]);
  std::string message(4096, '\0');
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], message.data(), message.size()))));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  const Reader reader(path);
  EXPECT_EQ(reader.status(), Status::kFailed);
  EXPECT_EQ(reader.message(), message);
  EXPECT_GT(reader.rows().samples, 1000U);
  EXPECT_TRUE(is_prefix_of_run(reader));
}

}  // namespace
}  // namespace clatter::record
