// The command line: options into the commands of commands.hpp. A further command is a function that adds its options, and
// a row of kCommands; studies (study/study.hpp) are commands by themselves.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "base/error.hpp"
#include "record/format.hpp"
#include "study/study.hpp"

namespace {

using namespace clatter::app;

// What is done once the options of a command are read.
using Action = std::function<int(const Console&)>;

constexpr const char* kExamples = R"(examples:
  clatter new toy --template woodpecker             a commented model to begin with: toy.yaml
  clatter run models/rigid/heavy_top.yaml           simulate; writes heavy_top.h5
  clatter run model.yaml --set length="15 mm" -o short.h5
  clatter run --continue heavy_top.h5               go on where a run was stopped or killed
  clatter verify models                             every model against its published values
  clatter compare model.yaml --step 1ms,0.5ms       one model by several methods: end state, energy, contact, cost
  clatter info model.yaml                           bodies, coordinates, degrees of freedom
  clatter reduce model.yaml                         flexible bodies: frequencies, how good their shapes are
  clatter view heavy_top.h5                         motion and plots in the browser
  clatter plot heavy_top.h5 top.position -o top.pdf  a figure
  clatter export heavy_top.h5 --csv                 a table for other programs

exit codes: 0 done, 1 a check fell short, 2 bad input, 3 a solve failed, 130 interrupted
The model language is described in docs/model-language.md, results in docs/results.md.)";

void add_parameters(CLI::App& command, clatter::study::Changes& changes) {
  command.add_option("--set", changes.parameters, "NAME=VALUE: change a parameter of the model (may be repeated)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_changes(CLI::App& command, clatter::study::Changes& changes) {
  command.add_option("--method", changes.method,
                     "integrator: rk4, dopri5, radau5, generalized-alpha, euler, symplectic-euler, verlet, bdf, adams, "
                     "event-driven, time-stepping or smooth, the last three also with their scheme: "
                     "time-stepping/generalized-alpha (default: the model's)");
  command.add_option("--end", changes.end, "end of the simulation in seconds");
  command.add_option("--step", changes.step, "fixed step, or first step of a method that controls it, in seconds");
  command.add_option("--tolerance", changes.tolerance, "relative tolerance of methods that control their step");
  command.add_option("--coordinates", changes.coordinates, "joint or absolute");
  add_parameters(command, changes);
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "replace files that this program did not write (never what the command reads)");
}

// An option that may stand alone, which is told from its absence by an empty place.
void add_place(CLI::App& command, const char* name, std::optional<std::string>& place, const char* text,
               const char* type) {
  const auto take = [&place](const CLI::results_t& words) {
    place.emplace();
    return words.empty() || CLI::detail::lexical_conversion<std::string, std::string>(words, *place);
  };
  command.add_option(name, take, text)->expected(0, 1)->type_name(type);
}

Action new_command(CLI::App& command) {
  const auto options = std::make_shared<NewOptions>();
  command.add_option("NAME", options->name, "name of the model; .yaml is added")->type_name("");
  command
      .add_option("-t,--template", options->model_template,
                  "which one (--list shows all; default: the smallest, pendulum)")
      ->type_name("TEMPLATE");
  command.add_flag("--list", options->list, "the templates there are");
  return [options](const Console& console) { return new_model(*options, console); };
}

Action run_command(CLI::App& command) {
  const auto options = std::make_shared<RunOptions>();
  auto* model = command.add_option("MODEL", options->model, "model file (YAML)")->type_name("");
  command.add_option("-o,--output", options->result, "result file (default: MODEL's name with .h5, here)")
      ->type_name("RESULT");
  auto* continued =
      command.add_option("--continue", options->continue_from, "go on from the last checkpoint of a result");
  continued->type_name("RESULT");
  add_changes(command, options->changes);
  command.add_flag("-q,--quiet", options->quiet, "no progress, no summary");
  add_force(command, options->force);
  model->excludes(continued);
  for (const char* name : {"--output", "--method", "--step", "--tolerance", "--coordinates", "--set"}) {
    continued->excludes(name);
  }
  return [options](const Console& console) { return run(*options, console); };
}

Action verify_command(CLI::App& command) {
  const auto options = std::make_shared<VerifyOptions>();
  command.add_option("MODEL|DIR", options->paths, "model files, or folders searched for *.yaml")
      ->required()
      ->type_name("");
  add_changes(command, options->changes);
  command.add_option("-j,--jobs", options->threads, "models at a time (default 2)")->check(CLI::Range(1, 256));
  command.add_flag("-q,--quiet", options->quiet, "only what fell short and the last line");
  add_force(command, options->force);

  command
      .add_option("--gallery", options->gallery,
                  "write DIR/gallery.json and a picture of each model, for the documentation")
      ->type_name("DIR");
  return [options](const Console& console) { return verify(*options, console); };
}

Action compare_command(CLI::App& command) {
  const auto options = std::make_shared<CompareOptions>();
  command.add_option("MODEL", options->model, "model file (YAML)")->required()->type_name("");
  command
      .add_option("--methods", options->methods,
                  "event-driven, time-stepping, smooth, each with its scheme if wanted (time-stepping/moreau, "
                  "time-stepping/generalized-alpha, smooth/radau5), or any integrator (default: the four above, "
                  "dopri5 and radau5 for models without contact); differences are to the first")
      ->delimiter(',')
      ->type_name("METHOD,...");
  command.add_option("--scheme", options->scheme, "integrator inside event-driven and smooth");
  command
      .add_option("--step", options->steps,
                  "fixed steps, 1ms,0.5ms: methods with a fixed step run once with each (default: the model's)")
      ->delimiter(',')
      ->type_name("TIME,...");
  command
      .add_option("--quantity", options->quantities,
                  "what to compare at the end, ball.position.y (default: positions of the first bodies)")
      ->delimiter(',')
      ->type_name("NAME,...");
  command.add_option("--end", options->changes.end, "end of the simulation in seconds");
  command.add_option("--tolerance", options->changes.tolerance,
                     "relative tolerance of methods that control their step");
  command.add_option("--coordinates", options->changes.coordinates, "joint or absolute");
  add_parameters(command, options->changes);
  add_place(command, "--csv", options->csv, "write the table; - is the standard output (default: MODEL.csv)", "[FILE]");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  add_force(command, options->force);
  return [options](const Console& console) { return compare(*options, console); };
}

Action info_command(CLI::App& command) {
  struct Options {
    std::string path;
    clatter::study::Changes changes;
  };
  const auto options = std::make_shared<Options>();
  command.add_option("MODEL|RESULT", options->path, "model file or result file")->required()->type_name("");
  command.add_option("--coordinates", options->changes.coordinates, "joint or absolute");
  add_parameters(command, options->changes);
  return [options](const Console& console) { return info(options->path, options->changes, console); };
}

Action reduce_command(CLI::App& command) {
  const auto options = std::make_shared<ReduceOptions>();
  command.add_option("MODEL", options->model, "model file (YAML)")->required()->type_name("");
  command.add_option("--body", options->body, "only this body")->type_name("NAME");
  add_parameters(command, options->changes);
  command.add_option("--sid", options->sid, "write each as Standard Input Data, FOLDER/NAME.sid")->type_name("FOLDER");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  add_force(command, options->force);
  return [options](const Console& console) { return reduce(*options, console); };
}

Action export_command(CLI::App& command) {
  const auto options = std::make_shared<ExportOptions>();
  command.add_option("RESULT", options->result, "result file")->required()->type_name("");
  add_place(command, "--csv", options->csv, "table; - is the standard output (default: RESULT.csv)", "[FILE]");
  add_place(command, "--vtk", options->vtk, "ParaView time series FOLDER.pvd (default: RESULT.pvd)", "[FOLDER]");
  command.add_option("--channels", options->channels, "only these: names or globs such as 'rod.*' (CSV)")
      ->type_name("GLOB...");
  command.add_option("--stride", options->stride, "every n-th sample only (ParaView)")
      ->check(CLI::Range(1, 1000000000));
  add_force(command, options->force);
  return [options](const Console& console) { return export_result(*options, console); };
}

Action view_command(CLI::App& command) {
  const auto options = std::make_shared<ViewOptions>();
  const auto no_browser = std::make_shared<bool>(false);
  command
      .add_option("RESULT", options->result, "result file, also of a run that goes on; or a model to run and follow")
      ->required()
      ->type_name("");
  command.add_option("--port", options->port, "port on this machine (default: any free one)")
      ->check(CLI::Range(1, 65535));
  command.add_flag("--no-browser", *no_browser, "only print the address");
  return [options, no_browser](const Console& console) {
    options->browser = !*no_browser;
    return view_result(*options, console);
  };
}

Action report_command(CLI::App& command) {
  const auto options = std::make_shared<ReportOptions>();
  command.add_option("RESULT", options->result, "result file")->required()->type_name("");
  command.add_option("-o,--output", options->output, "the page (default: RESULT's name with .html, here)")
      ->type_name("FILE");
  command.add_option("--size", options->megabytes, "megabytes of numbers at most (default 50)")
      ->check(CLI::Range(0.1, 4000.0));
  add_force(command, options->force);
  return [options](const Console& console) { return report(*options, console); };
}

Action plot_command(CLI::App& command) {
  const auto options = std::make_shared<PlotOptions>();
  const auto no_events = std::make_shared<bool>(false);
  command.add_option("RESULT", options->result, "result file")->required()->type_name("");
  command
      .add_option("QUANTITY", options->quantities,
                  "rod.position.x; rod.position for all its components; '|rod.velocity|' for its size; globs")
      ->required()
      ->type_name("...");
  command.add_option("-o,--output", options->output, "the figure; .svg, .pdf or .png tells the format")
      ->required()
      ->type_name("FILE");
  command.add_option("--over", options->over, "another quantity instead of time")->type_name("QUANTITY");
  command.add_option("--from", options->from, "begin in seconds");
  command.add_option("--to", options->to, "end in seconds");
  command.add_option("--title", options->title, "a line above");
  command.add_option("--width", options->width, "millimetres (default 160)")->check(CLI::Range(30.0, 2000.0));
  command.add_option("--height", options->height, "millimetres (default 100)")->check(CLI::Range(25.0, 2000.0));
  command.add_option("--dpi", options->dots_per_inch, "dots an inch of a PNG (default 200)")
      ->check(CLI::Range(30.0, 1200.0));
  command.add_flag("--no-events", *no_events, "no marks of events");
  add_force(command, options->force);
  return [options, no_events](const Console& console) {
    options->events = !*no_events;
    return plot(*options, console);
  };
}

Action schema_command(CLI::App&) { return schema; }

// The same options for every study.
Action study_command(CLI::App& command, const std::string& name) {
  const auto options = std::make_shared<AskOptions>();
  options->study = name;
  command.add_option("MODEL", options->model, "model file (YAML)")->required()->type_name("");
  add_changes(command, options->changes);
  add_place(command, "--csv", options->csv, "write the table; - is the standard output (default: MODEL.csv)", "[FILE]");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  add_force(command, options->force);
  return [options](const Console& console) { return ask(*options, console); };
}

struct Command {
  const char *name, *help;
  Action (*options)(CLI::App& command);
};

constexpr Command kCommands[] = {
    {"new", "write a commented model to begin with", new_command},
    {"run", "simulate a model and write a result file", run_command},
    {"verify", "run models and compare them with their published values", verify_command},
    {"compare", "run a model by several methods and compare them", compare_command},
    {"info", "what is in a model or a result", info_command},
    {"reduce", "the flexible bodies of a model: frequencies, static errors, effective masses", reduce_command},
    {"export", "write a result as CSV or for ParaView", export_command},
    {"view", "show a result in the browser: motion, plots, energy, contacts", view_command},
    {"report", "the same page as one file that opens anywhere", report_command},
    {"plot", "quantities of a result as a figure: SVG, PDF or PNG", plot_command},
    {"schema", "print the JSON schema of the model language, for editors", schema_command},
};

// CLI11 would complain about the arguments after an unknown command; this names the command instead.
bool unknown_command(int argc, char** argv, const std::vector<std::string>& commands) {
  if (argc < 2) return false;
  const std::string first = argv[1];
  if (first.empty() || first[0] == '-') return false;
  if (std::find(commands.begin(), commands.end(), first) != commands.end()) return false;
  std::string hint = clatter::did_you_mean(first, commands);
  std::error_code ignored;
  if (std::filesystem::exists(first, ignored)) hint = fmt::format("did you mean `clatter run {}`?", first);
  fmt::print(std::cerr, "error: there is no command `{}`{}{}\n", first, hint.empty() ? "" : "; ", hint);
  fmt::print(std::cerr, "commands: {} (`clatter --help` explains them)\n", fmt::join(commands, ", "));
  return true;
}

int dispatch(int argc, char** argv) {
  const Console console{std::cout, std::cerr};

  CLI::App app("Clatter simulates machines whose parts move, flex and knock on each other.", "clatter");
  app.set_version_flag("--version", "clatter " CLATTER_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  app.get_formatter()->column_width(36);

  std::vector<std::string> names;
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& c : kCommands) {
    CLI::App* command = app.add_subcommand(c.name, c.help);
    actions.emplace_back(command, c.options(*command));
    names.emplace_back(c.name);
  }
  for (const clatter::study::Study* s : clatter::study::studies()) {
    const std::string name(s->name());
    CLI::App* command = app.add_subcommand(name, std::string(s->purpose()));
    actions.emplace_back(command, study_command(*command, name));
    names.push_back(name);
  }

  if (unknown_command(argc, argv, names)) return kBadInput;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? kDone : kBadInput;
  }
  return guarded(console, [&] {
    const auto parsed = std::find_if(actions.begin(), actions.end(), [](const auto& a) { return a.first->parsed(); });
    return parsed->second(console);
  });
}

}  // namespace

int main(int argc, char** argv) {
  clatter::record::leave_nothing_to_exit();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is the error of a write, and is told as one
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
  } catch (...) {
    std::cerr << "error: unknown\n";
  }
  return kSolveFailed;
}
