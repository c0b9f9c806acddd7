// The models `clatter new` writes: the files of templates/, which the build puts into the program. A further template
// is a further file there: its name is the file's, its first line tells what it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clatter::app {

struct ModelTemplate {
  std::string_view name;  // "slider-crank"
  std::string_view text;  // @FILE@ and @RESULT@ stand for the model's and its result's names
  std::string_view summary() const;
};

std::span<const ModelTemplate> model_templates();  // by name

// Throws InputError with the nearest name and the list of all.
const ModelTemplate& find_template(std::string_view name);

// The text with its places filled for a model file of this name.
std::string filled(const ModelTemplate& model, const std::string& file);

}  // namespace clatter::app
