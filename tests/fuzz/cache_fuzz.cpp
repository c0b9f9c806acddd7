// A cached reduction: any bytes are a body whose matrices fit each other, or none.
#include "damage.hpp"
#include "fem/cache.hpp"

namespace {

std::string whole() {
  using namespace clatter;
  ReducedBody b;
  b.n = 2;
  b.mass = 1;
  b.N = Mat::Ones(3, 2);
  for (Mat& e : b.E0) e = Mat::Ones(3, 2);
  for (Mat& e : b.E) e = Mat::Ones(2, 2);
  b.M = b.K = b.D = Mat::Identity(2, 2);
  b.stiffening.assign(12, Mat::Identity(2, 2));
  Marker k;
  k.name = "tip";
  k.S = k.Psi = Mat::Ones(3, 2);
  for (Mat& s : k.second) s = Mat::Ones(2, 2);
  b.markers.push_back(k);
  b.boundary.push_back({"root", Vec3::Zero(), 0, true});
  b.frequencies = {1, 2};
  fem::FlexibleModel m;
  m.body = std::make_shared<const ReducedBody>(std::move(b));
  m.report.static_errors.push_back({"tip", 0.1});
  m.report.effective_mass = Mat::Ones(6, 2);
  m.warnings = {"thin"};
  m.shapes = Mat::Ones(12, 2);
  return fem::to_bytes(m);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string bytes = whole();
  const auto read = clatter::fem::from_bytes(clatter::fuzz::damaged(bytes, data, size));
  if (read && (read->body->M.rows() != read->body->n || read->body->M.cols() != read->body->n ||
               read->body->K.cols() != read->body->n))
    __builtin_trap();
  (void)clatter::fem::from_bytes(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
