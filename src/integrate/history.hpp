// The last points of a multistep method, newest first; a new point takes the place of the oldest.
#pragma once

#include <utility>
#include <vector>

#include "integrate/archive.hpp"

namespace clatter {

// A Point has a member exchange(Archive&); its arrays keep their sizes.
template <class Point>
class History {
 public:
  void setup(int capacity, const Point& like) {
    points_.assign(static_cast<std::size_t>(capacity), like);
    clear();
  }
  void clear() { size_ = newest_ = 0; }
  int size() const { return size_; }
  const Point& operator[](int age) const { return points_[place(age)]; }
  // To be filled by the caller.
  Point& push() {
    const int capacity = static_cast<int>(points_.size());
    newest_ = (newest_ + capacity - 1) % capacity;
    if (size_ < capacity) ++size_;
    return points_[place(0)];
  }
  // Also of points not in use, so that the size of the record does not depend on their number.
  void exchange(Archive& archive) {
    archive.count(size_);
    archive.count(newest_);
    for (Point& point : points_) point.exchange(archive);
  }

 private:
  std::size_t place(int age) const { return static_cast<std::size_t>(newest_ + age) % points_.size(); }

  std::vector<Point> points_;
  int size_ = 0, newest_ = 0;
};

}  // namespace clatter
