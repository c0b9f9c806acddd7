// AncfChain: a cable or beam in absolute nodal coordinates as a Block (Y-3 to Y-7).
//
//   M dv/dt - w g + sum over elements and points of G^T sigma        M constant, banded, factored once
//
// Links are places of the axis (AncfBody::places); their velocity is N v, their turn W(x) dx/dt (ancf_turn.hpp). The
// tangents are banded: every column has the rows of the elements its node belongs to. All costs grow with the number of
// elements, nothing is allocated, and the element kernels are compiled for their kind.
#pragma once

#include <memory>

#include "engine/ancf_body.hpp"

namespace clatter::ancf {

class AncfBlock : public Block {
 public:
  explicit AncfBlock(std::shared_ptr<const AncfBody> body) : body_(std::move(body)) {}
  std::unique_ptr<BlockWork> make_work() const override;
  std::vector<VelocityRun> runs() const override { return body_->runs; }
  VelocityRun moved_by(int link, int) const override {
    const Place& p = body_->places[static_cast<std::size_t>(link)];
    return {p.first * body_->dim, p.count * body_->dim};
  }
  const AncfBody& body() const { return *body_; }

 private:
  std::shared_ptr<const AncfBody> body_;
};

}  // namespace clatter::ancf
