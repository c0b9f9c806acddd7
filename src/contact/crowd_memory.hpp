// CrowdMemory: impulses of the last step by the pair of shapes and the place of the contact: where the solver of the
// next one starts; in crowds with rolling or drilling friction their moments too. Features may change names while a
// point stays where it is (corners on edges), so the place decides.
#pragma once

#include <cstdint>
#include <vector>

#include "base/math.hpp"
#include "integrate/archive.hpp"

namespace clatter::contact {

class CrowdMemory {
 public:
  struct Entry {
    std::uint64_t pair = 0;
    double pn = 0;
    Vec3 pt = Vec3::Zero(), place = Vec3::Zero();
  };

  // Empties it and makes room for n entries.
  void begin(std::size_t n) {
    entries_.clear();
    moments_.clear();
    std::size_t size = 64;
    while (size < 2 * n) size *= 2;
    if (size > table_.size()) table_.resize(size);
    table_.assign(table_.size(), -1);
  }
  void put(std::uint64_t pair, double pn, const Vec3& pt, const Vec3& place) {
    std::size_t at = home(pair);
    while (table_[at] >= 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = static_cast<std::int32_t>(entries_.size());
    entries_.push_back({pair, pn, pt, place});
  }
  // Moment of the entry that was put last: of all entries, or of none.
  void put_moment(const Vec3& m) { moments_.push_back(m); }
  Vec3 moment(const Entry& e) const { return moments_[static_cast<std::size_t>(&e - entries_.data())]; }
  // The nearest of the pair's that is no farther than `reach`, the first of those equally near; null: none.
  const Entry* find(std::uint64_t pair, const Vec3& place, double reach) const {
    if (table_.empty()) return nullptr;
    const Entry* best = nullptr;
    double nearest = reach * reach;
    for (std::size_t at = home(pair); table_[at] >= 0; at = (at + 1) & (table_.size() - 1)) {
      const Entry& e = entries_[static_cast<std::size_t>(table_[at])];
      if (e.pair != pair) continue;
      const double away = (e.place - place).squaredNorm();
      if (away > nearest || (best != nullptr && away == nearest && &e > best)) continue;
      nearest = away;
      best = &e;
    }
    return best;
  }
  // Keeps the first n: what a checkpoint has room for.
  void keep(std::size_t n) {
    if (entries_.size() <= n) return;
    entries_.resize(n);
    if (!moments_.empty()) moments_.resize(n);
    index();
  }
  void exchange(Archive& archive, std::size_t room, bool with_moments) {
    std::size_t count = entries_.size();
    archive.count(count);
    if (archive.reading()) {
      entries_.resize(count);
      moments_.resize(with_moments ? count : 0);
    }
    Entry none;
    for (std::size_t i = 0; i < room; ++i) {
      Entry& e = i < count && i < entries_.size() ? entries_[i] : none = {};
      archive.count(e.pair);
      archive.value(e.pn);
      for (int k = 0; k < 3; ++k) archive.value(e.pt[k]);
      for (int k = 0; k < 3; ++k) archive.value(e.place[k]);
    }
    for (std::size_t i = 0; i < room && with_moments; ++i) {
      Vec3 nothing = Vec3::Zero();
      Vec3& m = i < moments_.size() ? moments_[i] : nothing;
      for (int k = 0; k < 3; ++k) archive.value(m[k]);
    }
    if (archive.reading()) index();
  }

 private:
  std::size_t home(std::uint64_t pair) const {
    return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ull) >> 20) & (table_.size() - 1);
  }
  void index() {
    const std::vector<Entry> all = entries_;
    std::vector<Vec3> moments = moments_;
    begin(all.size());
    moments_.swap(moments);
    for (const Entry& e : all) put(e.pair, e.pn, e.pt, e.place);
  }

  std::vector<Entry> entries_;
  std::vector<Vec3> moments_;  // beside the entries, or empty
  std::vector<std::int32_t> table_;
};

}  // namespace clatter::contact
