// From a path and a command line's or a program's changes to a model; and the settings of a run as texts, for its result.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"
#include "record/format.hpp"
#include "study/flexible.hpp"

namespace clatter::study {

// What a command line may change about a model. Kept in the result, so that a continued run has it too.
struct Changes {
  std::optional<std::string> method;  // or FAMILY/SCHEME: time-stepping/generalized-alpha
  std::optional<double> end, step, tolerance;
  std::optional<std::string> coordinates;  // joint, absolute
  std::vector<std::string> parameters;     // name=value, value as in the model language: "length=15 mm"
  std::optional<std::string> text;         // the model itself where it is in no file
  bool default_step = false;               // a fixed step that nobody gave is chosen instead of asked for
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// "0.5 ms", "1ms" or a number in seconds. Throws InputError naming the option.
double seconds(const std::string& text, const char* option);

// Loads a model with the changes applied and every setting of the run decided (see decide_steps). Throws InputError.
Model load_changed(const std::string& path, const Changes& changes, const BodyMaking& making = {});
// The model of a result, from the texts and settings it holds.
// Its flexible bodies are made from the files they name; `recorded`: only from those whose hash the result holds, so
// that looking at a foreign result reads nothing its maker did not have.
enum class InputFiles { any, recorded };
Model load_recorded(const record::RunInfo& info, const BodyMaking& making = {}, InputFiles files = InputFiles::any);

// Settings that reproduce the run exactly, numbers with all their digits.
Settings settings_of(const Model& model, const Changes& changes);

}  // namespace clatter::study
