// One description of what a method remembers serves for counting, saving and restoring it.
#pragma once

#include <cstddef>
#include <span>

#include "base/math.hpp"

namespace clatter {

class Archive {
 public:
  static Archive counter() { return Archive(Mode::count, {}, {}); }
  static Archive writer(std::span<double> to) { return Archive(Mode::write, to, {}); }
  static Archive reader(std::span<const double> from) { return Archive(Mode::read, {}, from); }

  void value(double& x) {
    if (mode_ == Mode::write) to_[position_] = x;
    if (mode_ == Mode::read) x = from_[position_];
    ++position_;
  }
  // Counters up to 2^53 and flags are exact as doubles.
  template <class Integer>
  void count(Integer& n) {
    double x = static_cast<double>(n);
    value(x);
    if (mode_ == Mode::read) n = static_cast<Integer>(x);
  }
  void vector(Vec& x) {
    for (double& entry : x) value(entry);
  }
  bool reading() const { return mode_ == Mode::read; }
  bool counting() const { return mode_ == Mode::count; }
  std::size_t position() const { return position_; }

 private:
  enum class Mode { count, write, read };
  Archive(Mode mode, std::span<double> to, std::span<const double> from) : mode_(mode), to_(to), from_(from) {}

  Mode mode_;
  std::span<double> to_;
  std::span<const double> from_;
  std::size_t position_ = 0;
};

}  // namespace clatter
