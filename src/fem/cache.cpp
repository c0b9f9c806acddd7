#include "fem/cache.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/checksum.hpp"
#include "base/output_file.hpp"

namespace clatter::fem {
namespace {

// Changes whenever the format or what is computed changes.
constexpr char version[] = "clatter reduced body 2";

class Writer {
 public:
  std::string bytes;
  template <class T>
  void value(const T& v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof(T));
  }
  void text(const std::string& s) {
    value(static_cast<std::uint64_t>(s.size()));
    bytes += s;
  }
  void numbers(const double* p, std::size_t n) { bytes.append(reinterpret_cast<const char*>(p), n * sizeof(double)); }
  void matrix(const Mat& m) {
    value(static_cast<std::int64_t>(m.rows()));
    value(static_cast<std::int64_t>(m.cols()));
    numbers(m.data(), static_cast<std::size_t>(m.size()));
  }
  void list(const std::vector<double>& v) {
    value(static_cast<std::uint64_t>(v.size()));
    numbers(v.data(), v.size());
  }
  template <class M>
  void fixed(const M& m) {
    numbers(m.data(), static_cast<std::size_t>(m.size()));
  }
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  bool good = true;
  bool at_end() const { return place_ == bytes_.size(); }
  template <class T>
  T value() {
    T v{};
    take(&v, sizeof(T));
    return v;
  }
  std::string text() {
    const auto n = value<std::uint64_t>();
    if (!good || n > bytes_.size() - place_) {
      good = false;
      return {};
    }
    std::string s = bytes_.substr(place_, n);
    place_ += n;
    return s;
  }
  Mat matrix() {
    const auto r = value<std::int64_t>(), c = value<std::int64_t>();
    const auto room = static_cast<std::int64_t>((bytes_.size() - place_) / sizeof(double));
    if (!good || r < 0 || c < 0 || (r > 0 && c > room / r)) {
      good = false;
      return {};
    }
    Mat m(r, c);
    take(m.data(), static_cast<std::size_t>(m.size()) * sizeof(double));
    return m;
  }
  std::vector<double> list() {
    const auto n = value<std::uint64_t>();
    if (!good || n > (bytes_.size() - place_) / sizeof(double)) {
      good = false;
      return {};
    }
    std::vector<double> v(n);
    take(v.data(), n * sizeof(double));
    return v;
  }
  template <class M>
  void fixed(M& m) {
    take(m.data(), static_cast<std::size_t>(m.size()) * sizeof(double));
  }
  std::size_t count() {
    const auto n = value<std::uint64_t>();
    if (n > bytes_.size()) good = false;
    return good ? n : 0;
  }

 private:
  void take(void* to, std::size_t n) {
    if (!good || n > bytes_.size() - place_) {
      good = false;
      return;
    }
    if (n > 0) std::memcpy(to, bytes_.data() + place_, n);
    place_ += n;
  }
  const std::string& bytes_;
  std::size_t place_ = 0;
};

}  // namespace

std::string to_bytes(const FlexibleModel& m) {
  const ReducedBody& b = *m.body;
  Writer w;
  w.text(version);
  w.value(static_cast<std::uint8_t>(b.planar ? 1 : 0));
  w.fixed(b.origin);
  w.value(b.mass);
  w.fixed(b.J0);
  w.fixed(b.E00);
  w.value(static_cast<std::int32_t>(b.n));
  w.matrix(b.N);
  for (const Mat& e : b.E0) w.matrix(e);
  for (const Mat& e : b.E) w.matrix(e);
  for (const Mat* e : {&b.M, &b.K, &b.D}) w.matrix(*e);
  w.value(static_cast<std::uint64_t>(b.stiffening.size()));
  for (const Mat& e : b.stiffening) w.matrix(e);
  w.value(static_cast<std::uint64_t>(b.markers.size()));
  for (const Marker& k : b.markers) {
    w.text(k.name);
    w.fixed(k.X);
    w.fixed(k.R);
    w.matrix(k.S);
    w.matrix(k.Psi);
    for (const Mat& s : k.second) w.matrix(s);
  }
  w.value(static_cast<std::uint64_t>(b.boundary.size()));
  for (const BoundaryNode& k : b.boundary) {
    w.text(k.name);
    w.fixed(k.X);
    w.value(static_cast<std::int32_t>(k.first));
    w.value(static_cast<std::uint8_t>(k.rotations ? 1 : 0));
  }
  w.list(b.frequencies);
  w.value(b.hash);
  const ReductionReport& r = m.report;
  for (int v : {r.nodes, r.elements, r.freedoms}) w.value(static_cast<std::int32_t>(v));
  w.list(r.frequencies);
  w.value(static_cast<std::uint64_t>(r.static_errors.size()));
  for (const LoadError& e : r.static_errors) {
    w.text(e.load);
    w.value(e.error);
  }
  w.matrix(r.effective_mass);
  w.value(r.rigid_energy);
  w.value(r.rigid_mass_error);
  w.value(static_cast<std::uint64_t>(m.warnings.size()));
  for (const std::string& s : m.warnings) w.text(s);
  w.matrix(m.shapes);
  const std::uint32_t sum = crc32c(0, w.bytes.data(), w.bytes.size());
  w.value(sum);
  return std::move(w.bytes);
}

std::optional<FlexibleModel> from_bytes(const std::string& bytes) {
  Reader in(bytes);
  if (in.text() != version || bytes.size() < sizeof(std::uint32_t)) return {};
  std::uint32_t sum = 0;
  const std::size_t summed = bytes.size() - sizeof sum;
  std::memcpy(&sum, bytes.data() + summed, sizeof sum);
  if (sum != crc32c(0, bytes.data(), summed)) return {};
  FlexibleModel m;
  ReducedBody b;
  b.planar = in.value<std::uint8_t>() != 0;
  in.fixed(b.origin);
  b.mass = in.value<double>();
  in.fixed(b.J0);
  in.fixed(b.E00);
  b.n = in.value<std::int32_t>();
  b.N = in.matrix();
  for (Mat& e : b.E0) e = in.matrix();
  for (Mat& e : b.E) e = in.matrix();
  for (Mat* e : {&b.M, &b.K, &b.D}) *e = in.matrix();
  for (std::size_t n = in.count(); n > 0 && in.good; --n) b.stiffening.push_back(in.matrix());
  for (std::size_t n = in.count(); n > 0 && in.good; --n) {
    Marker k;
    k.name = in.text();
    in.fixed(k.X);
    in.fixed(k.R);
    k.S = in.matrix();
    k.Psi = in.matrix();
    for (Mat& s : k.second) s = in.matrix();
    b.markers.push_back(std::move(k));
  }
  for (std::size_t n = in.count(); n > 0 && in.good; --n) {
    BoundaryNode k;
    k.name = in.text();
    in.fixed(k.X);
    k.first = in.value<std::int32_t>();
    k.rotations = in.value<std::uint8_t>() != 0;
    b.boundary.push_back(std::move(k));
  }
  b.frequencies = in.list();
  b.hash = in.value<std::uint64_t>();
  ReductionReport& r = m.report;
  r.nodes = in.value<std::int32_t>();
  r.elements = in.value<std::int32_t>();
  r.freedoms = in.value<std::int32_t>();
  r.frequencies = in.list();
  for (std::size_t n = in.count(); n > 0 && in.good; --n) {
    LoadError e;
    e.load = in.text();
    e.error = in.value<double>();
    r.static_errors.push_back(std::move(e));
  }
  r.effective_mass = in.matrix();
  r.rigid_energy = in.value<double>();
  r.rigid_mass_error = in.value<double>();
  for (std::size_t n = in.count(); n > 0 && in.good; --n) m.warnings.push_back(in.text());
  m.shapes = in.matrix();
  in.value<std::uint32_t>();  // the checksum
  if (!in.good || !in.at_end() || b.M.rows() != b.n || b.K.rows() != b.n) return {};
  m.body = std::make_shared<const ReducedBody>(std::move(b));
  m.from_cache = true;
  return m;
}

Cache::Cache(const std::string& folder) {
  if (folder == "none") return;
  if (!folder.empty()) {
    folder_ = folder;
    return;
  }
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    folder_ = std::string(xdg) + "/clatter";
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    folder_ = std::string(home) + "/.cache/clatter";
}

std::string Cache::path(const std::string& key) const { return folder_ + "/" + key.substr(0, 40) + ".body"; }

std::optional<FlexibleModel> Cache::load(const std::string& key) const {
  if (!enabled()) return {};
  std::ifstream in(path(key), std::ios::binary);
  if (!in) return {};
  std::ostringstream bytes;
  bytes << in.rdbuf();
  const std::string all = bytes.str();
  if (all.compare(0, key.size(), key) != 0) return {};
  return from_bytes(all.substr(key.size()));
}

void Cache::store(const std::string& key, const FlexibleModel& model) const {
  if (!enabled()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const std::string target = path(key), part = name_beside(target);
  std::ofstream out(part, std::ios::binary);
  out << key << to_bytes(model);
  out.close();
  if (!out || publish_part(part, target) != 0) std::filesystem::remove(part, ignored);
}

}  // namespace clatter::fem
