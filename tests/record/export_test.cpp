#include "record/export.hpp"

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "record/result_fixture.hpp"

namespace clatter::record {
namespace {

using namespace test;
using Exports = ResultFiles;

void write_sample(const std::string& path, int steps) {
  Writer writer = sample_writer(path);
  MapRun run;
  for (int i = 0; i < steps; ++i) run.record_step(writer);
  writer.finish(Status::kFinished, "done");
}

// Fields of one CSV line by RFC 4180.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (inside && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  EXPECT_FALSE(inside) << line;
  return fields;
}

double number(const std::string& text) {
  double x = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  EXPECT_TRUE(error == std::errc{} && end == text.data() + text.size()) << "'" << text << "'";
  return x;
}

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A strict little reader of XML without text escapes in contents: elements must nest and close. Returns, for each
// element with a Name attribute (or the tag itself), its text.
std::map<std::string, std::string> xml_texts(const std::string& xml, std::vector<std::string>* files = nullptr) {
  std::map<std::string, std::string> texts;
  std::vector<std::pair<std::string, std::string>> open;  // tag, key
  std::size_t at = xml.find("?>");
  EXPECT_NE(at, std::string::npos);
  at += 2;
  while (at < xml.size()) {
    const std::size_t tag = xml.find('<', at);
    if (!open.empty()) texts[open.back().second] += xml.substr(at, tag - at);
    if (tag == std::string::npos) break;
    const std::size_t end = xml.find('>', tag);
    EXPECT_NE(end, std::string::npos);
    const std::string inner = xml.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inner.starts_with("!--")) continue;  // a comment, without a bracket in it
    if (inner[0] == '/') {
      EXPECT_FALSE(open.empty());
      EXPECT_EQ(open.back().first, inner.substr(1));
      open.pop_back();
      continue;
    }
    const auto attribute = [&](const std::string& key) {
      const std::size_t from = inner.find(" " + key + "=\"");
      if (from == std::string::npos) return std::string();
      const std::size_t first = from + key.size() + 3;
      return inner.substr(first, inner.find('"', first) - first);
    };
    if (files != nullptr && !attribute("file").empty())
      files->push_back(attribute("timestep") + " " + attribute("file"));
    if (inner.back() == '/') continue;
    const std::string name = inner.substr(0, inner.find(' '));
    open.emplace_back(name, attribute("Name").empty() ? name : attribute("Name"));
  }
  EXPECT_TRUE(open.empty()) << "unclosed " << (open.empty() ? "" : open.back().first);
  return texts;
}

std::vector<double> numbers(const std::string& text) {
  std::istringstream stream(text);
  std::vector<double> out;
  for (std::string word; stream >> word;) out.push_back(number(word));
  return out;
}

TEST(Globs, MatchAsInAShellButAcrossSlashes) {
  EXPECT_TRUE(matches_glob("bodies/*/position", "bodies/car/wheel/position"));
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("b?d*y", "bodies/energy"));
  EXPECT_TRUE(matches_glob("*ab*ab", "aababbab"));
  EXPECT_FALSE(matches_glob("energy", "energy2"));
  EXPECT_FALSE(matches_glob("*x", "energy"));
  EXPECT_FALSE(matches_glob("?", ""));
}

TEST_F(Exports, CsvReadsBackToTheSameBits) {
  write_sample(file("r.h5"), 3000);
  const Reader reader(file("r.h5"));
  export_csv(reader, file("r.csv"));
  std::istringstream stream(content(file("r.csv")));
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> header = csv_fields(line);
  const std::vector<std::string> expected{"time [s]",
                                          "bodies/rod/position.x [m]",
                                          "bodies/rod/position.y [m]",
                                          "bodies/rod/position.z [m]",
                                          "bodies/rod/orientation.w",
                                          "bodies/rod/orientation.x",
                                          "bodies/rod/orientation.y",
                                          "bodies/rod/orientation.z",
                                          "energy [J]",
                                          "bodies/a \"b\", c/position.x [m]",
                                          "bodies/a \"b\", c/position.y [m]",
                                          "bodies/a \"b\", c/position.z [m]"};
  EXPECT_EQ(header, expected);
  MapRun run;
  int rows = 0;
  while (std::getline(stream, line)) {
    run.advance();
    ++rows;
    const std::vector<std::string> fields = csv_fields(line);
    ASSERT_EQ(fields.size(), 12U);
    expect_same_bits(number(fields[0]), run.t(), "time");
    for (std::size_t i = 0; i < MapRun::kWidth; ++i) expect_same_bits(number(fields[i + 1]), run.x[i], header[i + 1]);
  }
  EXPECT_EQ(rows, 3000);
}

TEST_F(Exports, CsvTakesOnlyWhatTheGlobsNameAndRefusesThoseThatNameNothing) {
  write_sample(file("r.h5"), 3);
  const Reader reader(file("r.h5"));
  std::ostringstream out;
  export_csv(reader, out, {"energy", "*/orientation"});
  EXPECT_EQ(out.str().substr(0, out.str().find('\n')),
            "time [s],bodies/rod/orientation.w,bodies/rod/orientation.x,bodies/rod/orientation.y,"
            "bodies/rod/orientation.z,energy [J]");
  EXPECT_THROW(export_csv(reader, file("no.csv"), {"*/force"}), ResultError);
  EXPECT_FALSE(std::filesystem::exists(file("no.csv")));
  EXPECT_THROW(export_csv(reader, file("no/such/folder.csv")), InputError);
}

TEST_F(Exports, VtkSeriesHoldsEveryPoseOfEveryFrame) {
  const std::vector<Channel> channels{{"bodies/rod & <pin>/position", "m", 3, {}, ""},
                                      {"bodies/rod & <pin>/orientation", "", 4, {}, ""},
                                      {"bodies/rod & <pin>/velocity", "m/s", 3, {}, ""},
                                      {"bodies/ball/position", "m", 3, {}, ""},
                                      {"bodies/ball/velocity", "m/s", 3, {}, ""}};
  {
    Writer writer = Writer::create(file("r.h5"), {}, channels, {});
    const double c = std::sqrt(0.5);
    for (int i = 0; i < 2050; ++i) {
      const double x = 0.1 * i;
      // The rod is turned by 90 degrees about z: x axis to y, y axis to minus x.
      writer.append(0.01 * i, std::vector<double>{x, 2, 3, c, 0, 0, c, 4, 5, 6, -x, 7, 8, 9, 10, 11});
    }
    writer.finish(Status::kFinished, "");
  }
  const Reader reader(file("r.h5"));
  EXPECT_EQ(export_vtk(reader, file("out"), 100), 21U);
  std::vector<std::string> files;
  xml_texts(content(file("out.pvd")), &files);
  ASSERT_EQ(files.size(), 21U);
  EXPECT_EQ(files[20], "20 out_vtp/frame_000020.vtp");  // row 2000, in the second block read
  const auto frame = xml_texts(content(file("out_vtp/frame_000020.vtp")));
  EXPECT_EQ(numbers(frame.at("TimeValue")), std::vector<double>{20});
  EXPECT_EQ(numbers(frame.at("position")), (std::vector<double>{200, 2, 3, -200, 7, 8}));
  EXPECT_EQ(numbers(frame.at("velocity")), (std::vector<double>{4, 5, 6, 9, 10, 11}));
  EXPECT_EQ(numbers(frame.at("body")), (std::vector<double>{0, 1}));
  EXPECT_EQ(numbers(frame.at("connectivity")), (std::vector<double>{0, 1}));
  EXPECT_EQ(numbers(frame.at("offsets")), (std::vector<double>{1, 2}));
  const std::vector<double> x = numbers(frame.at("axis_x"));
  const std::vector<double> y = numbers(frame.at("axis_y"));
  const std::vector<double> expected_x{0, 1, 0, 1, 0, 0};
  const std::vector<double> expected_y{-1, 0, 0, 0, 1, 0};
  ASSERT_EQ(x.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(x[i], expected_x[i], 4e-16);  // two roundings of sqrt(1/2) squared
    EXPECT_NEAR(y[i], expected_y[i], 4e-16);
  }
  std::string names;
  for (const double code : numbers(frame.at("body_names"))) names += static_cast<char>(code);
  EXPECT_EQ(names, std::string("rod & <pin>\0ball\0", 17));
}

TEST_F(Exports, VtkWithoutBodiesSaysSo) {
  {
    Writer writer = Writer::create(file("r.h5"), {}, {{"energy", "J", 1, {}, ""}}, {});
    writer.append(0.0, std::vector<double>{1.0});
  }
  EXPECT_THROW(export_vtk(Reader(file("r.h5")), file("out")), ResultError);
  EXPECT_FALSE(std::filesystem::exists(file("out.pvd")));
}

}  // namespace
}  // namespace clatter::record
