// Meshes and matrices from files. Whatever is wrong becomes an InputError with file and line.
#pragma once

#include <Eigen/SparseCore>
#include <string>

#include "fem/mesh.hpp"

namespace clatter::fem {

// By the ending of the name: .msh (Gmsh 4.1, ASCII or binary) or .inp (Abaqus, CalculiX). Coordinates are multiplied by
// `unit` (0.001 for a mesh in millimetres).
Mesh read_mesh(const std::string& path, double unit = 1);

// Gmsh 4.1. Elements of the highest dimension make the body; those of lower dimension in physical groups make sets.
Mesh read_gmsh(const std::string& text, const std::string& file, double unit = 1);
// *NODE, *ELEMENT, *NSET, *ELSET, *SURFACE; other keywords are skipped.
Mesh read_abaqus(const std::string& text, const std::string& file, double unit = 1);

// A body whose matrices another program made: K and M in MatrixMarket format (symmetric, or general and symmetric to
// rounding), and the positions of its nodes, three numbers a line; freedoms are node by node, 3 or 6 each.
struct MatrixModel {
  std::vector<Vec3> nodes;
  int per_node = 3;
  Eigen::SparseMatrix<double> K, M;  // both triangles
};
MatrixModel read_matrices(const std::string& stiffness, const std::string& mass, const std::string& nodes,
                          double unit = 1);
Eigen::SparseMatrix<double> read_matrix_market(const std::string& text, const std::string& file);
// Dense matrix, `array` or `coordinate` format, or plain rows of numbers.
Mat read_table(const std::string& text, const std::string& file);

std::string read_text(const std::string& path);  // the bytes of a file

}  // namespace clatter::fem
