// The command line: options into the commands of commands.hpp.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "base/error.hpp"
#include "record/format.hpp"

namespace {

using namespace clatter::app;

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

void add_changes(CLI::App& command, Changes& changes) {
  command.add_option("--method", changes.method,
                     "integrator: rk4, dopri5, radau5, generalized-alpha, euler, symplectic-euler, verlet, bdf, adams, "
                     "event-driven, time-stepping or smooth, the last three also with their scheme: "
                     "time-stepping/generalized-alpha (default: the model's)");
  command.add_option("--end", changes.end, "end of the simulation in seconds");
  command.add_option("--step", changes.step, "fixed step, or first step of a method that controls it, in seconds");
  command.add_option("--tolerance", changes.tolerance, "relative tolerance of methods that control their step");
  command.add_option("--coordinates", changes.coordinates, "joint or absolute");
  command.add_option("--set", changes.parameters, "NAME=VALUE: change a parameter of the model (may be repeated)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "replace files that this program did not write (never what the command reads)");
}

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
  fmt::print(std::cerr,
             "commands: new, run, verify, compare, info, reduce, view, report, plot, export, schema (`clatter --help` "
             "explains them)\n");
  return true;
}

int dispatch(int argc, char** argv) {
  const Console console{std::cout, std::cerr};

  CLI::App app("Clatter simulates machines whose parts move, flex and knock on each other.", "clatter");
  app.set_version_flag("--version", "clatter " CLATTER_VERSION);
  app.require_subcommand(1);
  app.footer(kExamples);
  app.get_formatter()->column_width(36);

  NewOptions new_options;
  CLI::App* new_command = app.add_subcommand("new", "write a commented model to begin with");
  new_command->add_option("NAME", new_options.name, "name of the model; .yaml is added")->type_name("");
  new_command
      ->add_option("-t,--template", new_options.model_template,
                   "which one (--list shows all; default: the smallest, pendulum)")
      ->type_name("TEMPLATE");
  new_command->add_flag("--list", new_options.list, "the templates there are");

  RunOptions run_options;
  CLI::App* run_command = app.add_subcommand("run", "simulate a model and write a result file");
  auto* model = run_command->add_option("MODEL", run_options.model, "model file (YAML)")->type_name("");
  run_command->add_option("-o,--output", run_options.result, "result file (default: MODEL's name with .h5, here)")
      ->type_name("RESULT");
  auto* continued =
      run_command->add_option("--continue", run_options.continue_from, "go on from the last checkpoint of a result");
  continued->type_name("RESULT");
  add_changes(*run_command, run_options.changes);
  run_command->add_flag("-q,--quiet", run_options.quiet, "no progress, no summary");
  add_force(*run_command, run_options.force);
  model->excludes(continued);
  for (const char* name : {"--output", "--method", "--step", "--tolerance", "--coordinates", "--set"}) {
    continued->excludes(name);
  }

  VerifyOptions verify_options;
  CLI::App* verify_command = app.add_subcommand("verify", "run models and compare them with their published values");
  verify_command->add_option("MODEL|DIR", verify_options.paths, "model files, or folders searched for *.yaml")
      ->required()
      ->type_name("");
  add_changes(*verify_command, verify_options.changes);
  verify_command->add_option("-j,--jobs", verify_options.threads, "models at a time (default 2)")
      ->check(CLI::Range(1, 256));
  verify_command->add_flag("-q,--quiet", verify_options.quiet, "only what fell short and the last line");
  add_force(*verify_command, verify_options.force);

  verify_command
      ->add_option("--gallery", verify_options.gallery,
                   "write DIR/gallery.json and a picture of each model, for the documentation")
      ->type_name("DIR");

  CompareOptions compare_options;
  std::string compare_csv;
  CLI::App* compare_command = app.add_subcommand("compare", "run a model by several methods and compare them");
  compare_command->add_option("MODEL", compare_options.model, "model file (YAML)")->required()->type_name("");
  compare_command
      ->add_option("--methods", compare_options.methods,
                   "event-driven, time-stepping, smooth, each with its scheme if wanted (time-stepping/moreau, "
                   "time-stepping/generalized-alpha, smooth/radau5), or any integrator (default: the four above, "
                   "dopri5 and radau5 for models without contact); differences are to the first")
      ->delimiter(',')
      ->type_name("METHOD,...");
  compare_command->add_option("--scheme", compare_options.scheme, "integrator inside event-driven and smooth");
  compare_command
      ->add_option("--step", compare_options.steps,
                   "fixed steps, 1ms,0.5ms: methods with a fixed step run once with each (default: the model's)")
      ->delimiter(',')
      ->type_name("TIME,...");
  compare_command
      ->add_option("--quantity", compare_options.quantities,
                   "what to compare at the end, ball.position.y (default: positions of the first bodies)")
      ->delimiter(',')
      ->type_name("NAME,...");
  compare_command->add_option("--end", compare_options.changes.end, "end of the simulation in seconds");
  compare_command->add_option("--tolerance", compare_options.changes.tolerance,
                              "relative tolerance of methods that control their step");
  compare_command->add_option("--coordinates", compare_options.changes.coordinates, "joint or absolute");
  compare_command
      ->add_option("--set", compare_options.changes.parameters, "NAME=VALUE: change a parameter of the model")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  auto* compare_csv_option = compare_command->add_option(
      "--csv", compare_csv, "write the table; - is the standard output (default: MODEL.csv)");
  compare_csv_option->expected(0, 1)->type_name("[FILE]");
  compare_command->add_flag("-q,--quiet", compare_options.quiet, "no progress");
  add_force(*compare_command, compare_options.force);

  std::string info_path;
  Changes info_changes;
  CLI::App* info_command = app.add_subcommand("info", "what is in a model or a result");
  info_command->add_option("MODEL|RESULT", info_path, "model file or result file")->required()->type_name("");
  info_command->add_option("--coordinates", info_changes.coordinates, "joint or absolute");
  info_command->add_option("--set", info_changes.parameters, "NAME=VALUE: change a parameter of the model")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);

  ReduceOptions reduce_options;
  CLI::App* reduce_command =
      app.add_subcommand("reduce", "the flexible bodies of a model: frequencies, static errors, effective masses");
  reduce_command->add_option("MODEL", reduce_options.model, "model file (YAML)")->required()->type_name("");
  reduce_command->add_option("--body", reduce_options.body, "only this body")->type_name("NAME");
  reduce_command->add_option("--set", reduce_options.changes.parameters, "NAME=VALUE: change a parameter of the model")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  reduce_command->add_option("--sid", reduce_options.sid, "write each as Standard Input Data, FOLDER/NAME.sid")
      ->type_name("FOLDER");
  reduce_command->add_flag("-q,--quiet", reduce_options.quiet, "no progress");
  add_force(*reduce_command, reduce_options.force);

  ExportOptions export_options;
  std::string csv, vtk;
  CLI::App* export_command = app.add_subcommand("export", "write a result as CSV or for ParaView");
  export_command->add_option("RESULT", export_options.result, "result file")->required()->type_name("");
  auto* csv_option = export_command->add_option("--csv", csv, "table; - is the standard output (default: RESULT.csv)");
  csv_option->expected(0, 1)->type_name("[FILE]");
  auto* vtk_option = export_command->add_option("--vtk", vtk, "ParaView time series FOLDER.pvd (default: RESULT.pvd)");
  vtk_option->expected(0, 1)->type_name("[FOLDER]");
  export_command->add_option("--channels", export_options.channels, "only these: names or globs such as 'rod.*' (CSV)")
      ->type_name("GLOB...");
  export_command->add_option("--stride", export_options.stride, "every n-th sample only (ParaView)")
      ->check(CLI::Range(1, 1000000000));
  add_force(*export_command, export_options.force);

  ViewOptions view_options;
  bool no_browser = false;
  CLI::App* view_command = app.add_subcommand("view", "show a result in the browser: motion, plots, energy, contacts");
  view_command
      ->add_option("RESULT", view_options.result,
                   "result file, also of a run that goes on; or a model to run and follow")
      ->required()
      ->type_name("");
  view_command->add_option("--port", view_options.port, "port on this machine (default: any free one)")
      ->check(CLI::Range(1, 65535));
  view_command->add_flag("--no-browser", no_browser, "only print the address");

  ReportOptions report_options;
  CLI::App* report_command = app.add_subcommand("report", "the same page as one file that opens anywhere");
  report_command->add_option("RESULT", report_options.result, "result file")->required()->type_name("");
  report_command->add_option("-o,--output", report_options.output, "the page (default: RESULT's name with .html, here)")
      ->type_name("FILE");
  report_command->add_option("--size", report_options.megabytes, "megabytes of numbers at most (default 50)")
      ->check(CLI::Range(0.1, 4000.0));
  add_force(*report_command, report_options.force);

  PlotOptions plot_options;
  bool no_events = false;
  CLI::App* plot_command = app.add_subcommand("plot", "quantities of a result as a figure: SVG, PDF or PNG");
  plot_command->add_option("RESULT", plot_options.result, "result file")->required()->type_name("");
  plot_command
      ->add_option("QUANTITY", plot_options.quantities,
                   "rod.position.x; rod.position for all its components; '|rod.velocity|' for its size; globs")
      ->required()
      ->type_name("...");
  plot_command->add_option("-o,--output", plot_options.output, "the figure; .svg, .pdf or .png tells the format")
      ->required()
      ->type_name("FILE");
  plot_command->add_option("--over", plot_options.over, "another quantity instead of time")->type_name("QUANTITY");
  plot_command->add_option("--from", plot_options.from, "begin in seconds");
  plot_command->add_option("--to", plot_options.to, "end in seconds");
  plot_command->add_option("--title", plot_options.title, "a line above");
  plot_command->add_option("--width", plot_options.width, "millimetres (default 160)")->check(CLI::Range(30.0, 2000.0));
  plot_command->add_option("--height", plot_options.height, "millimetres (default 100)")
      ->check(CLI::Range(25.0, 2000.0));
  plot_command->add_option("--dpi", plot_options.dots_per_inch, "dots an inch of a PNG (default 200)")
      ->check(CLI::Range(30.0, 1200.0));
  plot_command->add_flag("--no-events", no_events, "no marks of events");
  add_force(*plot_command, plot_options.force);

  CLI::App* schema_command = app.add_subcommand("schema", "print the JSON schema of the model language, for editors");

  if (unknown_command(
          argc, argv,
          {"new", "run", "verify", "compare", "info", "reduce", "view", "report", "plot", "export", "schema"}))
    return kBadInput;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? kDone : kBadInput;
  }

  return guarded(console, [&]() -> int {
    if (new_command->parsed()) return new_model(new_options, console);
    if (run_command->parsed()) return run(run_options, console);
    if (verify_command->parsed()) return verify(verify_options, console);
    if (compare_command->parsed()) {
      if (compare_csv_option->count() > 0) compare_options.csv = compare_csv;
      return compare(compare_options, console);
    }
    if (reduce_command->parsed()) return reduce(reduce_options, console);
    if (info_command->parsed()) return info(info_path, info_changes, console);
    if (view_command->parsed()) {
      view_options.browser = !no_browser;
      return view_result(view_options, console);
    }
    if (report_command->parsed()) return report(report_options, console);
    if (plot_command->parsed()) {
      plot_options.events = !no_events;
      return plot(plot_options, console);
    }
    if (schema_command->parsed()) return schema(console);
    if (csv_option->count() > 0) export_options.csv = csv;
    if (vtk_option->count() > 0) export_options.vtk = vtk;
    return export_result(export_options, console);
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
