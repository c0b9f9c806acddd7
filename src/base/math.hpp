// The small vectors and matrices every room speaks in. All quantities are SI.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace clatter {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Quat = Eigen::Quaterniond;
using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;
using VecRef = Eigen::Ref<Eigen::VectorXd>;
using ConstVecRef = Eigen::Ref<const Eigen::VectorXd>;

// skew(a) b = a x b, for any scalar type.
template <class T>
Eigen::Matrix<T, 3, 3> skew(const Eigen::Matrix<T, 3, 1>& a) {
  Eigen::Matrix<T, 3, 3> s;
  s << T(0), -a.z(), a.y(), a.z(), T(0), -a.x(), -a.y(), a.x(), T(0);
  return s;
}

}  // namespace clatter
