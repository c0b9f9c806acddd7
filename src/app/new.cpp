// `clatter new`: a commented model to begin with.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <ostream>

#include "app/commands.hpp"
#include "app/templates.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const ModelTemplate& t : model_templates()) names.emplace_back(t.name);
  return names;
}

void replace_all(std::string& text, std::string_view place, const std::string& word) {
  for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += word.size())
    text.replace(at, place.size(), word);
}

}  // namespace

std::string_view ModelTemplate::summary() const {
  const std::string_view line = line_of(text, 1);
  const std::size_t begin = line.find_first_not_of("# ");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

const ModelTemplate& find_template(std::string_view name) {
  for (const ModelTemplate& t : model_templates())
    if (t.name == name) return t;
  const std::vector<std::string> names = template_names();
  const std::string near = did_you_mean(name, names);
  throw InputError(fmt::format("there is no template `{}`", name),
                   fmt::format("{}{}templates: {}", near, near.empty() ? "" : " ", listed(names, names.size())));
}

std::string filled(const ModelTemplate& model, const std::string& file) {
  std::string text(model.text);
  replace_all(text, "@FILE@", file);
  replace_all(text, "@RESULT@", fs::path(file).filename().replace_extension(".h5").string());
  return text;
}

int new_model(const NewOptions& options, const Console& console) {
  if (options.list) {
    Table table({"template", "what it is"});
    for (const ModelTemplate& t : model_templates()) table.row({std::string(t.name), std::string(t.summary())});
    fmt::print(console.out, "{}", table.text(0));
    return kDone;
  }
  const ModelTemplate& chosen = find_template(options.model_template);
  if (options.name.empty()) throw InputError("new needs a name", "for example  clatter new toy --template woodpecker");
  fs::path path = options.name;
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  if (path.stem().empty() || path.filename().string().front() == '.')
    throw InputError(fmt::format("`{}` is not a name for a model", options.name),
                     "for example  toy  or  toys/toy.yaml");
  write_new_file(path.string(), filled(chosen, path.string()));
  fmt::print(console.out, "{}: {}\nnext:   clatter run {}\n", path.string(), chosen.summary(), path.string());
  return kDone;
}

}  // namespace clatter::app
