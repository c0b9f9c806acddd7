#include <atomic>

#include "api/clatter.hpp"
#include "api/setup.hpp"
#include "app/stop_signals.hpp"
#include "study/study.hpp"

namespace clatter::api {

std::vector<std::string> studies() {
  std::vector<std::string> names;
  for (const study::Study* s : study::studies()) names.emplace_back(s->name());
  return names;
}

Answer ask(const Setup& setup, const std::string& study, const std::function<bool(const Progress&)>& watch) {
  const study::Study& question = study::study_named(study);
  study::Prepared prepared = study::prepare(load(setup));
  const app::StopSignals signals;
  std::atomic<bool> stop = false;
  study::Request request;
  request.stop = &stop;
  request.progress = [&](const study::Progress& p) {
    if (app::StopSignals::requested() || (watch && !watch({p.at, p.step, p.steps, p.events}))) stop = true;
  };
  study::Answer found = question.run(prepared, request);
  if (found.failure) throw SolveError(*found.failure);
  Answer answer;
  answer.study = study;
  answer.method = std::move(found.method);
  answer.finished = found.status == study::Status::finished;
  for (study::ResultTable::Column& column : found.table.columns) {
    answer.columns.push_back(std::move(column.name));
    answer.units.push_back(std::move(column.unit));
  }
  answer.rows = std::move(found.table.rows);
  answer.notes = std::move(found.notes);
  answer.warnings = std::move(found.warnings);
  return answer;
}

}  // namespace clatter::api
