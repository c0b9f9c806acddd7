// The Python module clatter._clatter: src/api in Python's terms. Arrays are views of the memory they come from; the
// interpreter is free while steps are computed. What Python does better (dictionaries, files) is in
// clatter/__init__.py.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "api/clatter.hpp"

namespace py = pybind11;
namespace api = clatter::api;

namespace {

using Array = py::array_t<double>;

// A view without a copy, read only; `owner` keeps the memory alive.
Array view(std::span<const double> values, std::vector<py::ssize_t> shape, const py::handle& owner) {
  Array array(std::move(shape), values.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

// Hands the memory over to the array.
Array take(std::vector<double> values, std::vector<py::ssize_t> shape) {
  auto owned = std::make_unique<std::vector<double>>(std::move(values));
  double* data = owned->data();
  const py::capsule owner(owned.release(), [](void* p) { delete static_cast<std::vector<double>*>(p); });
  return Array(std::move(shape), data, owner);
}
Array take(std::vector<double> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return take(std::move(values), {size});
}
Array take(api::Table table) {
  const auto rows = static_cast<py::ssize_t>(table.rows), columns = static_cast<py::ssize_t>(table.columns);
  if (columns == 1) return take(std::move(table.values), {rows});
  return take(std::move(table.values), {rows, columns});
}

// The program's exceptions as those of clatter/errors.py, with what they know.
void raise(const char* name, const std::exception& error, const py::dict& attributes) {
  const py::object type = py::module_::import("clatter.errors").attr(name);
  const py::object value = type(error.what());
  for (const auto& [key, attribute] : attributes) py::setattr(value, key, attribute);
  PyErr_SetObject(type.ptr(), value.ptr());
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const clatter::InputError& error) {
    py::list diagnostics;
    const py::object type = py::module_::import("clatter.errors").attr("Diagnostic");
    for (const clatter::Diagnostic& d : error.diagnostics())
      diagnostics.append(type(d.source.file, d.source.line, d.source.column, d.message, d.hint));
    raise("InputError", error, py::dict(py::arg("diagnostics") = diagnostics));
  } catch (const clatter::SolveError& error) {
    raise("SolveError", error,
          py::dict(py::arg("kind") = error.kind(), py::arg("time") = error.time(),
                   py::arg("elements") = error.elements(), py::arg("advice") = error.advice()));
  } catch (const api::ResultFileError& error) {
    raise("ResultError", error, {});
  }
}

// Computes with the interpreter free; Python's callback is called with it held, and what it raises comes out of here.
// `compute` takes the callback in the program's terms, and gives what has a `finished`.
template <class Compute>
auto watched(const py::object& progress, const Compute& compute) {
  std::exception_ptr raised;
  bool stopped = false;
  std::function<bool(const api::Progress&)> watch;
  if (!progress.is_none())
    watch = [&](const api::Progress& p) {
      const py::gil_scoped_acquire held;
      try {
        const py::object answer = progress(p);
        stopped = !answer.is_none() && !py::cast<bool>(answer);
      } catch (...) {
        raised = std::current_exception();
        stopped = true;
      }
      return !stopped;
    };
  auto answer = [&] {
    const py::gil_scoped_release free;
    return compute(watch);
  }();
  if (raised) std::rethrow_exception(raised);
  if (!answer.finished && !stopped) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  return answer;
}

void bind_values(py::module_& m) {
  py::class_<api::Setup>(m, "Setup", "A model and what is changed about it.")
      .def(py::init<>())
      .def_readwrite("file", &api::Setup::file)
      .def_readwrite("text", &api::Setup::text)
      .def_readwrite("method", &api::Setup::method)
      .def_readwrite("coordinates", &api::Setup::coordinates)
      .def_readwrite("end", &api::Setup::end)
      .def_readwrite("step", &api::Setup::step)
      .def_readwrite("tolerance", &api::Setup::tolerance)
      .def_readwrite("parameters", &api::Setup::parameters);
  py::class_<api::Quantity>(m, "Quantity", "Something that can be read: its name, unit, components and meaning.")
      .def_readonly("name", &api::Quantity::name)
      .def_readonly("unit", &api::Quantity::unit)
      .def_readonly("components", &api::Quantity::components)
      .def_readonly("description", &api::Quantity::description)
      .def("__repr__", [](const api::Quantity& q) { return "<" + q.name + " in " + q.unit + ">"; });
  py::class_<api::Event>(m, "Event", "Something that happened at a moment: an impact, a contact that closed.")
      .def_readonly("t", &api::Event::t)
      .def_readonly("kind", &api::Event::kind)
      .def_readonly("element", &api::Event::element)
      .def_readonly("text", &api::Event::text)
      .def("__repr__", [](const api::Event& e) {
        return "<" + e.kind + " of " + e.element + " at " + std::string(py::str(py::float_(e.t))) + " s>";
      });
  py::class_<api::Progress>(m, "Progress", "Where a run is: simulated time, last step, steps and events so far.")
      .def_readonly("t", &api::Progress::t)
      .def_readonly("step", &api::Progress::step)
      .def_readonly("steps", &api::Progress::steps)
      .def_readonly("events", &api::Progress::events);
  py::class_<api::Answer>(m, "Answer", "What a study found: rows of numbers and words under named columns.")
      .def_readonly("study", &api::Answer::study)
      .def_readonly("method", &api::Answer::method)
      .def_readonly("finished", &api::Answer::finished)
      .def_readonly("columns", &api::Answer::columns)
      .def_readonly("units", &api::Answer::units)
      .def_readonly("rows", &api::Answer::rows)
      .def_readonly("notes", &api::Answer::notes)
      .def_readonly("warnings", &api::Answer::warnings)
      .def("__repr__", [](const api::Answer& a) {
        return "<" + a.study + ": " + std::to_string(a.rows.size()) + " rows of " + std::to_string(a.columns.size()) +
               ">";
      });
}

void bind_simulation(py::module_& m) {
  using Free = py::call_guard<py::gil_scoped_release>;
  const auto size = [](std::span<const double> s) {
    return std::vector<py::ssize_t>{static_cast<py::ssize_t>(s.size())};
  };
  py::class_<api::Simulation>(m, "Simulation", "A model in motion, step by step in the caller's hands.")
      .def(py::init<const api::Setup&>(), Free())
      .def_property_readonly("title", &api::Simulation::title)
      .def_property_readonly("time", &api::Simulation::time, "Simulated time, s.")
      .def_property_readonly("start", &api::Simulation::start)
      .def_property_readonly("end", &api::Simulation::end, "Where the model's own run ends, s; steps may go beyond.")
      .def_property_readonly("degrees_of_freedom", &api::Simulation::degrees_of_freedom)
      .def("restart", &api::Simulation::restart, Free(), "Go back to the start.")
      .def(
          "step", [](api::Simulation& s, std::optional<double> until) { return s.step(until.value_or(s.end())); },
          py::arg("until") = py::none(), Free(),
          "One accepted step of the model's method, not beyond `until` (the model's end unless given). Returns the "
          "time "
          "reached; a step of length zero is a jump, such as an impact.")
      .def("advance", &api::Simulation::advance, py::arg("until"), Free(),
           "As many steps as it takes to `until`. Returns the time reached.")
      .def_property_readonly("events", &api::Simulation::events, "What happened in the last step or advance.")
      .def_property_readonly("quantities", &api::Simulation::quantities, "All that can be read by name.")
      .def(
          "__getitem__",
          [size](py::object self, const std::string& name) -> py::object {
            const std::span<const double> values = self.cast<api::Simulation&>().value(name);
            if (values.size() == 1) return py::float_(values[0]);
            return view(values, size(values), self);
          },
          py::arg("quantity"),
          "The quantity now: a number, or a read-only view of its components. A view shows the moment of the last "
          "reading; copy it to keep it.")
      .def_property_readonly(
          "coordinates",
          [size](py::object self) {
            const auto values = self.cast<api::Simulation&>().coordinates();
            return view(values, size(values), self);
          },
          "Generalized coordinates: a view that follows the steps.")
      .def_property_readonly(
          "velocities",
          [size](py::object self) {
            const auto values = self.cast<api::Simulation&>().velocities();
            return view(values, size(values), self);
          },
          "Generalized velocities, named by velocity_names: a view that follows the steps.")
      .def_property_readonly(
          "inner_states",
          [size](py::object self) {
            const auto values = self.cast<api::Simulation&>().inner_states();
            return view(values, size(values), self);
          },
          "First-order states of elements: a view that follows the steps.")
      .def_property_readonly("velocity_names", &api::Simulation::velocity_names);
}

void bind_result(py::module_& m) {
  py::class_<api::Result>(m, "ResultFile", "Reads a result file.")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def_property_readonly("path", &api::Result::path)
      .def_property_readonly("model_name", &api::Result::model_name)
      .def_property_readonly("status", &api::Result::status, "running, finished, failed, interrupted or killed.")
      .def_property_readonly("message", &api::Result::message)
      .def_property_readonly("summary", &api::Result::summary)
      .def_property_readonly("settings",
                             [](const api::Result& r) {
                               py::dict settings;
                               for (const auto& [key, value] : r.settings()) settings[py::str(key)] = value;
                               return settings;
                             })
      .def("refresh", &api::Result::refresh, "Take in what a run has written since; True when something changed.")
      .def_property_readonly("quantities", &api::Result::quantities)
      .def_property_readonly("ledger_quantities", &api::Result::ledger_quantities)
      .def_property_readonly(
          "time", [](const api::Result& r) { return take(r.times()); }, "Times of the samples, s.")
      .def_property_readonly("ledger_time", [](const api::Result& r) { return take(r.ledger_times()); })
      .def(
          "__getitem__", [](const api::Result& r, const std::string& name) { return take(r.read(name)); },
          py::arg("quantity"), "All samples: one column a component, or a plain array of a number.")
      .def(
          "ledger", [](const api::Result& r, const std::string& name) { return take(r.read_ledger(name)); },
          py::arg("quantity"), "A row of the energy ledger over ledger_time.")
      .def_property_readonly("events", &api::Result::events)
      .def("report_html", &api::Result::report_html, py::arg("megabytes") = 50.0,
           "The viewer's page with this result in it, one self-contained text.")
      .def("write_report", &api::Result::write_report, py::arg("path"), py::arg("megabytes") = 50.0,
           py::arg("force") = false, "The same as a file; only a report is replaced unless `force`.");
}

}  // namespace

PYBIND11_MODULE(_clatter, m) {
  m.doc() = "Clatter's engine; use it through the package clatter.";
  py::register_exception_translator(&translate);
  bind_values(m);
  bind_simulation(m);
  bind_result(m);
  m.def(
      "run",
      [](const api::Setup& setup, const std::string& result, const py::object& progress) {
        return watched(progress, [&](const auto& watch) { return api::run(setup, result, watch); }).finished;
      },
      py::arg("setup"), py::arg("result"), py::arg("progress") = py::none());
  m.def("studies", &api::studies, "What a model can be asked.");
  m.def(
      "ask",
      [](const api::Setup& setup, const std::string& study, const py::object& progress) {
        return watched(progress, [&](const auto& watch) { return api::ask(setup, study, watch); });
      },
      py::arg("setup"), py::arg("study"), py::arg("progress") = py::none());
  m.attr("__version__") = api::version();
}
