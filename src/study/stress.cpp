#include "study/stress.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "fem/make.hpp"
#include "fem/skin.hpp"
#include "model/quantities.hpp"

namespace clatter::study {

namespace {

// sigma = rows eta at the skin's vertices, made once.
struct SkinStress {
  explicit SkinStress(const FlexibleSource& source) {
    const auto structure = fem::make_structure(source).structure;
    const std::vector<int> nodes = fem::make_skin(*structure, Mat(structure->freedoms(), 0)).nodes;
    rows = fem::make_recovery(source)->stress_rows(nodes);
    sigma.resize(rows.rows());
  }
  Mat rows;
  Vec sigma;
};

}  // namespace

bool has_stress(const FlexibleSource& source) {
  using K = MeshDescription::Kind;
  const K k = source.mesh.kind;
  return k != K::beam && k != K::spring && k != K::matrices && k != K::block && !source.mesh.file.ends_with(".sid");
}

bool wants_stress(const Model& model, const std::string& body) {
  return std::any_of(model.outputs.begin(), model.outputs.end(), [&](const Output& output) {
    return output.quantity.ends_with(".stress") && glob_match(output.quantity, body + ".stress");
  });
}

std::vector<ExtraQuantity> stress_quantities(const System& system, Engine& engine) {
  std::vector<ExtraQuantity> out;
  for (const FlexibleIndex& index : system.flexible) {
    const Body& body = system.model.bodies[static_cast<std::size_t>(index.body)];
    if (!body.flexible || !has_stress(*body.flexible)) continue;
    struct Lazy {
      std::once_flag once;
      std::shared_ptr<const fem::Recovery> recovery;
    };
    out.push_back({{body.name + ".von_mises", "Pa", {}, "largest von Mises stress of the mesh"},
                   [lazy = std::make_shared<Lazy>(), source = body.flexible, n = index.n,
                    block = static_cast<std::size_t>(index.block), &engine](double* value) {
                     std::call_once(lazy->once, [&] { lazy->recovery = fem::make_recovery(*source); });
                     const Vec eta = Eigen::Map<const Vec>(engine.links().blocks[block]->elastic_coordinates(), n);
                     *value = lazy->recovery->largest_von_mises(eta).first;
                   }});
    if (!wants_stress(system.model, body.name)) continue;
    const auto skin = std::make_shared<SkinStress>(*body.flexible);
    QuantityInfo info{body.name + ".stress", "Pa", {}, "von Mises stress at each vertex of its skin"};
    info.count = static_cast<int>(skin->rows.rows() / 6);
    info.single = true;
    out.push_back({info, [skin, n = index.n, block = static_cast<std::size_t>(index.block), &engine](double* value) {
                     const double* eta = engine.links().blocks[block]->elastic_coordinates();
                     skin->sigma.noalias() = skin->rows * Eigen::Map<const Vec>(eta, n);
                     fem::Recovery::von_mises_of(skin->sigma, value);
                   }});
  }
  return out;
}

}  // namespace clatter::study
