// From a path and the command line's changes to a model; and the settings of a run as texts, for its result.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/flexible.hpp"
#include "model/model.hpp"
#include "record/format.hpp"

namespace clatter::app {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string method_name(Method method);
// With the scheme inside it: "time-stepping/moreau", "smooth/dopri5", "rk4".
std::string method_text(const Simulate& simulate);
bool has_fixed_step(const Simulate& simulate);
// Nobody named the scheme that takes the steps: the program may go over to another one.
bool chosen_by_program(const Simulate& simulate);
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

// Replaces the zeros that stand for "chosen": the output step, such that steps of a fixed-step method and the times of
// checks fall on samples where that is possible; the checkpoint interval.
void decide_steps(Model& model);

}  // namespace clatter::app
