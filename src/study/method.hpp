// The method of a simulation: its words, the integrator settings that it stands for, and the steps nobody gave.
#pragma once

#include <optional>
#include <string>

#include "integrate/run.hpp"
#include "model/model.hpp"

namespace clatter::study {

std::string method_name(Method method);
// With the scheme inside it: "time-stepping/moreau", "smooth/dopri5", "rk4".
std::string method_text(const Simulate& simulate);
// The other way: FAMILY, or FAMILY/SCHEME. Throws InputError with the nearest word.
Method method_named(std::string name);
void choose_method(const std::string& text, Simulate& simulate);

// The method that takes the steps: of event-driven and smooth their scheme.
Method stepping(const Simulate& simulate);
bool has_fixed_step(const Simulate& simulate);
bool treats_contact(Method method);
// Nobody named the scheme that takes the steps: the program may go over to another one.
bool chosen_by_program(const Simulate& simulate);
// Where the scheme that takes the steps was named (Simulate::source), if not by the model.
extern const Source kMethodOption;

RunSettings run_settings(const Model& model);
// Of methods with explicit steps of fixed length: the largest product of step and frequency of a vibration that they do
// not make grow.
std::optional<double> explicit_limit(const Simulate& simulate);

// Where nobody gave a step: a thousandth of the run, whatever is recorded of it.
double default_step(const Simulate& simulate);
// Replaces the zeros that stand for "chosen": the output step, such that steps of a fixed-step method and the times of
// checks fall on samples where that is possible; the checkpoint interval.
void decide_steps(Model& model);

}  // namespace clatter::study
