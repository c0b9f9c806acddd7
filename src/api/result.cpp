#include <algorithm>
#include <sstream>

#include "api/clatter.hpp"
#include "app/result_page.hpp"
#include "record/reader.hpp"
#include "study/channels.hpp"

namespace clatter::api {

namespace {

// Trouble with a file, in the public word for it.
template <class F>
auto told(F&& f) {
  try {
    return f();
  } catch (const record::ResultError& error) {
    throw ResultFileError(error.what());
  } catch (const OutputError& error) {
    throw ResultFileError(error.what());
  }
}

std::vector<Quantity> quantities_of(const std::vector<record::Channel>& channels, bool ledger) {
  std::vector<Quantity> list;
  for (const record::Channel& c : channels)
    list.push_back({ledger ? c.name : study::quantity_of_channel(c.name), c.unit, c.components, c.description});
  return list;
}

struct Place {
  std::size_t channel = 0;
  int component = -1;  // -1: all
};

// A channel by its own name or its quantity's, or one component of it.
Place find(const std::vector<record::Channel>& channels, const std::string& name, const std::string& path) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const record::Channel& c = channels[i];
    const std::string quantity = study::quantity_of_channel(c.name);
    known.push_back(quantity);
    if (name == quantity || name == c.name) return {i, -1};
    for (std::size_t k = 0; k < c.components.size(); ++k) {
      if (name == quantity + "." + c.components[k]) return {i, static_cast<int>(k)};
    }
  }
  throw InputError(path + " records no `" + name + "`", did_you_mean(name, known));
}

Table table(const record::RowMatrix& rows, int component) {
  Table t;
  t.rows = static_cast<std::size_t>(rows.rows());
  if (component < 0) {
    t.columns = static_cast<std::size_t>(rows.cols());
    t.values.assign(rows.data(), rows.data() + rows.size());
  } else {
    t.columns = 1;
    t.values.resize(t.rows);
    for (std::size_t i = 0; i < t.rows; ++i) t.values[i] = rows(static_cast<Eigen::Index>(i), component);
  }
  return t;
}

}  // namespace

struct Result::Impl {
  explicit Impl(const std::string& path) : reader(path) {}
  record::Reader reader;
};

Result::Result(const std::string& path) : impl_(told([&] { return std::make_unique<Impl>(path); })) {}
Result::Result(Result&&) noexcept = default;
Result& Result::operator=(Result&&) noexcept = default;
Result::~Result() = default;

const std::string& Result::path() const { return impl_->reader.path(); }
const std::string& Result::model_name() const { return impl_->reader.info().model_name; }
const std::string& Result::message() const { return impl_->reader.message(); }
const std::string& Result::summary() const { return impl_->reader.summary(); }
std::vector<std::pair<std::string, std::string>> Result::settings() const { return impl_->reader.info().settings; }

std::string Result::status() const {
  return impl_->reader.killed() ? "killed" : std::string(record::to_string(impl_->reader.status()));
}

bool Result::refresh() {
  return told([&] { return impl_->reader.refresh(); });
}

std::vector<Quantity> Result::quantities() const { return quantities_of(impl_->reader.channels(), false); }
std::vector<Quantity> Result::ledger_quantities() const { return quantities_of(impl_->reader.ledger_channels(), true); }

std::vector<double> Result::times() const {
  return told([&] { return impl_->reader.times(); });
}
std::vector<double> Result::ledger_times() const {
  return told([&] { return impl_->reader.ledger_times(); });
}

Table Result::read(const std::string& quantity) const {
  return told([&] {
    const record::Reader& r = impl_->reader;
    const Place place = find(r.channels(), quantity, r.path());
    return table(r.read(r.channels()[place.channel].name), place.component);
  });
}

Table Result::read_ledger(const std::string& quantity) const {
  return told([&] {
    const record::Reader& r = impl_->reader;
    const Place place = find(r.ledger_channels(), quantity, r.path());
    return table(r.read_ledger(r.ledger_channels()[place.channel].name), place.component);
  });
}

std::vector<Event> Result::events() const {
  return told([&] {
    std::vector<Event> list;
    for (const record::Event& e : impl_->reader.events()) list.push_back({e.t, e.kind, e.element, e.text});
    return list;
  });
}

std::string Result::report_html(double megabytes) const {
  return told([&] {
    std::ostringstream out;
    app::write_report(impl_->reader, megabytes, out);
    return std::move(out).str();
  });
}

void Result::write_report(const std::string& path, double megabytes, bool force) const {
  told([&] { return app::write_report_file(impl_->reader, megabytes, path, force); });
}

}  // namespace clatter::api
