#include "study/input_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "fem/read.hpp"
#include "model/flexible.hpp"

namespace clatter::study {
namespace {

void add_files(const FlexibleSource& source, std::vector<std::string>& files) {
  for (const std::string& file :
       {source.mesh.file, source.mesh.mass_file, source.mesh.node_file, source.reduction.modes_file})
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

std::vector<std::string> read_by_bodies(const Model& model) {
  std::vector<std::string> files;
  for (const Body& body : model.bodies)
    if (body.flexible) add_files(*body.flexible, files);
  return files;
}

}  // namespace

std::vector<std::string> files_of(const Model& model) {
  std::vector<std::string> files;
  for (const auto& [path, text] : model.texts) files.push_back(path);
  for (std::string& file : read_by_bodies(model)) files.push_back(std::move(file));
  return files;
}

std::vector<std::pair<std::string, std::string>> hashed_inputs(const Model& model) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const std::string& file : read_by_bodies(model)) list.emplace_back(file, sha256(fem::read_text(file)));
  return list;
}

void refuse_changed_inputs(const std::vector<std::pair<std::string, std::string>>& recorded,
                           const std::vector<std::pair<std::string, std::string>>& texts) {
  const auto refuse = [](const std::string& file, const char* what) {
    throw InputError(fmt::format("{} {} since the run began, so the run cannot go on as it was", file, what),
                     "put it back as it was, or run the model again");
  };
  std::error_code error;
  for (const auto& [file, hash] : recorded) {
    if (!std::filesystem::exists(file, error)) refuse(file, "was moved or removed");
    if (sha256(fem::read_text(file)) != hash) refuse(file, "was changed");
  }
  for (std::size_t i = 1; i < texts.size(); ++i)
    if (std::filesystem::is_regular_file(texts[i].first, error) && fem::read_text(texts[i].first) != texts[i].second)
      refuse(texts[i].first, "was changed");
}

void refuse_unrecorded(const FlexibleSource& source, const std::vector<std::pair<std::string, std::string>>& recorded) {
  std::vector<std::string> files;
  add_files(source, files);
  for (const std::string& file : files) {
    const auto known =
        std::find_if(recorded.begin(), recorded.end(), [&](const auto& input) { return input.first == file; });
    std::error_code error;
    if (known == recorded.end() || !std::filesystem::is_regular_file(file, error) ||
        sha256(fem::read_text(file)) != known->second)
      throw InputError(fmt::format("{} is not here as the run read it, and is not looked at", file));
  }
}

}  // namespace clatter::study
