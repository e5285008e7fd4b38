// The Eigen types that cross room boundaries. Vectors and matrices are passed as references to any
// storage (a vector, a segment, a map of a plain array) without copies.
#pragma once

#include <Eigen/Core>

namespace stiction {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows of Jacobians and mass blocks are stored row by row.
using RowMatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using VectorMap = Eigen::Map<VectorXd>;
using ConstVectorMap = Eigen::Map<const VectorXd>;
using RowMatrixMap = Eigen::Map<RowMatrixXd>;
using ConstRowMatrixMap = Eigen::Map<const RowMatrixXd>;

using VectorRef = Eigen::Ref<VectorXd>;
using ConstVectorRef = Eigen::Ref<const VectorXd>;
using RowMatrixRef = Eigen::Ref<RowMatrixXd>;

}  // namespace stiction
