// The files a model is made of: its own, those it includes, and what its flexible bodies read (meshes, matrices,
// modes).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace clatter::study {

std::vector<std::string> files_of(const Model& model);

// Path and SHA-256 of those that a result does not hold the text of.
std::vector<std::pair<std::string, std::string>> hashed_inputs(const Model& model);

// A run can go on only with what it began with. Throws InputError where a file of `recorded` is gone or another, or
// where an included file, of which the result holds the text, is there and was changed.
void refuse_changed_inputs(const std::vector<std::pair<std::string, std::string>>& recorded,
                           const std::vector<std::pair<std::string, std::string>>& texts);

// Throws InputError where a flexible body reads a file that is not among `recorded` with the content it had.
void refuse_unrecorded(const FlexibleSource& source, const std::vector<std::pair<std::string, std::string>>& recorded);

}  // namespace clatter::study
