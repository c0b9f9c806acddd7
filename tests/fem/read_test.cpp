// Readers: the same small meshes in every format, and messages with the line of what is wrong.
#include "fem/read.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "fem/generate.hpp"

namespace clatter::fem {
namespace {

Diagnostic mistake_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.diagnostics().front();
  }
  return {};
}

// Two tetrahedra that share a face; physical groups `body` (volume) and `floor` (the triangle 1 2 3).
const char* gmsh_ascii = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "floor"
3 9 "body"
$EndPhysicalNames
$Entities
0 0 1 1
5 0 0 0 1 1 1 1 7 0
1 0 0 0 1 1 1 1 9 0
$EndEntities
$Nodes
1 6 1 20
3 1 0 6
1
2
3
4
15
20
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1
9 9 9
$EndNodes
$Elements
2 3 1 12
2 5 2 1
10 1 2 3
3 1 4 2
11 1 2 3 4
12 2 3 4 15
$EndElements
)";

TEST(Gmsh, ReadsNodesElementsAndPhysicalGroupsInMillimetres) {
  const Mesh m = read_gmsh(gmsh_ascii, "two.msh", 1e-3);
  ASSERT_EQ(m.nodes.size(), 5U);  // node 20 belongs to no element
  EXPECT_EQ(m.element_count(), 2);
  EXPECT_EQ(m.node_label(4), 15);
  EXPECT_DOUBLE_EQ(m.nodes[1].x(), 1e-3);
  EXPECT_EQ(m.element_sets.at("body"), (std::vector<int>{0, 1}));
  EXPECT_EQ(m.node_sets.at("floor"), (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(m.surfaces.at("floor").size(), 1U);
  EXPECT_EQ(m.surfaces.at("floor")[0], (Face{0, 0}));
}

template <class T>
void put(std::string& s, T v) {
  char b[sizeof(T)];
  std::memcpy(b, &v, sizeof(T));
  s.append(b, sizeof(T));
}

TEST(Gmsh, ReadsTheBinaryFormAlike) {
  // The bytes of section 10.1 of the Gmsh manual: int for tags of entities and types, size_t for counts and tags.
  std::string s = "$MeshFormat\n4.1 1 8\n";
  put<std::int32_t>(s, 1);
  s += "\n$EndMeshFormat\n$PhysicalNames\n2\n2 7 \"floor\"\n3 9 \"body\"\n$EndPhysicalNames\n$Entities\n";
  for (std::uint64_t n : {0, 0, 1, 1}) put<std::uint64_t>(s, n);
  for (int e = 0; e < 2; ++e) {
    put<std::int32_t>(s, e == 0 ? 5 : 1);
    for (int k = 0; k < 6; ++k) put<double>(s, k < 3 ? 0 : 1);
    put<std::uint64_t>(s, 1);
    put<std::int32_t>(s, e == 0 ? 7 : 9);
    put<std::uint64_t>(s, 0);
  }
  s += "\n$EndEntities\n$Nodes\n";
  for (std::uint64_t n : {1, 5, 1, 15}) put<std::uint64_t>(s, n);
  for (int k : {3, 1, 0}) put<std::int32_t>(s, k);
  put<std::uint64_t>(s, 5);
  for (std::uint64_t n : {1, 2, 3, 4, 15}) put<std::uint64_t>(s, n);
  for (double x : {0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1.}) put<double>(s, x);
  s += "\n$EndNodes\n$Elements\n";
  for (std::uint64_t n : {2, 3, 10, 12}) put<std::uint64_t>(s, n);
  for (int k : {2, 5, 2}) put<std::int32_t>(s, k);
  put<std::uint64_t>(s, 1);
  for (std::uint64_t n : {10, 1, 2, 3}) put<std::uint64_t>(s, n);
  for (int k : {3, 1, 4}) put<std::int32_t>(s, k);
  put<std::uint64_t>(s, 2);
  for (std::uint64_t n : {11, 1, 2, 3, 4, 12, 2, 3, 4, 15}) put<std::uint64_t>(s, n);
  s += "\n$EndElements\n";
  const Mesh a = read_gmsh(s, "b.msh"), b = read_gmsh(gmsh_ascii, "a.msh");
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) EXPECT_EQ(a.nodes[i], b.nodes[i]);
  EXPECT_EQ(a.blocks[0].connectivity, b.blocks[0].connectivity);
  EXPECT_EQ(a.node_sets, b.node_sets);
  EXPECT_EQ(a.element_sets, b.element_sets);
  // Cut anywhere, the file is refused rather than read beyond its end.
  for (std::size_t n = 40; n < s.size(); n += 7) EXPECT_THROW(read_gmsh(s.substr(0, n), "cut.msh"), InputError) << n;
}

TEST(Gmsh, SaysWhichLineIsWrong) {
  std::string s = gmsh_ascii;
  s.replace(s.find("12 2 3 4 15"), 11, "12 2 3 4 16");
  const Diagnostic d = mistake_of([&] { read_gmsh(s, "two.msh"); });
  EXPECT_EQ(d.source.file, "two.msh");
  EXPECT_EQ(d.source.line, 36);  // the last but one
  EXPECT_NE(d.message.find("element 12 names node 16"), std::string::npos) << d.message;
  std::string old = gmsh_ascii;
  old.replace(old.find("4.1"), 3, "2.2");
  EXPECT_NE(mistake_of([&] { read_gmsh(old, "two.msh"); }).message.find("only 4.1"), std::string::npos);
  EXPECT_NE(mistake_of([&] { read_gmsh("solid cube\n", "a.msh"); }).message.find("$MeshFormat"), std::string::npos);
}

const char* abaqus = R"(*HEADING
 a hexahedron on a wedge
*NODE, NSET=everything
1, 0., 0., 0.
2, 1., 0., 0.
3, 1., 1., 0.
4, 0., 1., 0.
5, 0., 0., 1.
6, 1., 0., 1.
7, 1., 1., 1.
8, 0., 1., 1.
9, .5, 0., 2.
10, .5, 1., 2.0D+0
** the elements
*Element, type=C3D8I, elset=cube
1, 1, 2, 3, 4,
 5, 6, 7, 8
*ELEMENT, TYPE=C3D6, ELSET=roof
2, 5, 9, 6, 8, 10, 7
*NSET, NSET=base
1, 2, 3, 4
*NSET, NSET=odd, GENERATE
1, 9, 2
*ELSET, ELSET=both
cube, roof
*SURFACE, NAME=under
cube, S1
*MATERIAL, NAME=steel
*DENSITY
7800.
)";

TEST(Abaqus, ReadsNodesElementsSetsAndSurfaces) {
  const Mesh m = read_abaqus(abaqus, "house.inp");
  ASSERT_EQ(m.nodes.size(), 10U);
  EXPECT_EQ(m.element_count(), 2);
  EXPECT_DOUBLE_EQ(m.nodes[9].z(), 2);
  check_mesh(m);
  EXPECT_NEAR(volume_of(m).volume, 1.5, 1e-14);
  EXPECT_EQ(m.node_sets.at("base").size(), 4U);
  EXPECT_EQ(m.node_sets.at("odd"), (std::vector<int>{0, 2, 4, 6, 8}));
  EXPECT_EQ(m.element_sets.at("both"), (std::vector<int>{0, 1}));
  ASSERT_EQ(m.surfaces.at("under").size(), 1U);
  std::vector<int> under = m.face_nodes(m.surfaces.at("under")[0]);
  std::sort(under.begin(), under.end());
  EXPECT_EQ(under, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Abaqus, SaysWhichLineIsWrong) {
  std::string s = abaqus;
  s.replace(s.find("C3D8I"), 5, "C3D9I");
  const Diagnostic d = mistake_of([&] { read_abaqus(s, "house.inp"); });
  EXPECT_EQ(d.source.line, 15);
  EXPECT_EQ(d.hint, "did you mean `C3D8I`?");
  s = abaqus;
  s.replace(s.find(" 5, 6, 7, 8"), 11, " 5, 6, 7");
  EXPECT_NE(mistake_of([&] { read_abaqus(s, "house.inp"); }).message.find("too few nodes (7 of 8)"), std::string::npos);
  s = abaqus;
  s.replace(s.find("2, 5, 9, 6"), 10, "2, 5, 99, 6");
  EXPECT_EQ(mistake_of([&] { read_abaqus(s, "house.inp"); }).source.line, 19);
}

TEST(MatrixMarket, ReadsSymmetricAndGeneralMatricesAndRefusesHalfOnes) {
  const auto m = read_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 2.5\n2 1 -1\n3 3 4e0\n", "K.mtx");
  EXPECT_DOUBLE_EQ(m.coeff(0, 1), -1);
  EXPECT_DOUBLE_EQ(m.coeff(2, 2), 4);
  const Diagnostic d = mistake_of(
      [] { read_matrix_market("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n", "K.mtx"); });
  EXPECT_EQ(d.source.line, 4);
  EXPECT_NE(mistake_of([] {
              read_matrix_market("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "K.mtx");
            }).message.find("ends after 1 of 2"),
            std::string::npos);
  const Mat t = read_table("# x y z\n0, 1, 2\n3 4 5\n", "n.txt");
  EXPECT_DOUBLE_EQ(t(1, 2), 5);
}

// What a file announces is not taken for memory before the file can hold it, and no number is made an integer that is
// none.
TEST(MatrixMarket, IsBoundedByWhatTheFileHolds) {
  const auto refused = [](const std::string& text) {
    return !mistake_of([&] { read_matrix_market(text, "K.mtx"); }).message.empty() &&
           !mistake_of([&] { read_table(text, "K.mtx"); }).message.empty();
  };
  for (const char* size : {"4000000000 4000000000", "1e300 1", "-1 3", "0 0", "20000 20000", "3 2.5e9"}) {
    EXPECT_TRUE(refused(std::string("%%MatrixMarket matrix array real general\n") + size + "\n1\n")) << size;
    EXPECT_TRUE(refused(std::string("%%MatrixMarket matrix coordinate real general\n") + size + " 1\n1e19 1 1\n"))
        << size;
  }
  EXPECT_FALSE(mistake_of([] {
                 read_table("%%MatrixMarket matrix coordinate real general\n9000000 9000000 0\n", "K.mtx");
               }).message.empty());
}

// The mirror image of an entry lay outside of the matrix.
TEST(MatrixMarket, IsSquareWhereItIsSymmetric) {
  const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n2 3 3\n1 1 2.5\n2 1 -1\n1 3 4\n";
  EXPECT_EQ(mistake_of([&] { read_matrix_market(text, "K.mtx"); }).message, "a symmetric matrix must be square");
}

TEST(Meshes, HaveFiniteNodes) {
  std::string text = abaqus;
  text.replace(text.find("2.0D+0"), 6, "nan");
  EXPECT_EQ(mistake_of([&] { read_abaqus(text, "a.inp"); }).message, "expected a number, found `nan`");
  text = gmsh_ascii;
  text.replace(text.find("9 9 9"), 5, "inf 9 9");
  EXPECT_EQ(mistake_of([&] { read_gmsh(text, "a.msh"); }).message, "a number is not finite");
}

// 8e9 elements would take 400 GB before anything is said.
TEST(Meshes, ThatAreMadeAreBounded) {
  EXPECT_EQ(mistake_of([] {
              make_box({1, 1, 1}, 2000, 2000, 2000);
            }).message,
            "this mesh would have 8e+09 elements; at most 4000000 are made");
  EXPECT_FALSE(mistake_of([] { make_rectangle(1, 1, 10000, 10000); }).message.empty());
  EXPECT_FALSE(mistake_of([] { make_disk(1, 10000, 1); }).message.empty());
  EXPECT_FALSE(mistake_of([] { make_cylinder(1, 1, 100, 10, 10000); }).message.empty());
  EXPECT_FALSE(mistake_of([] { make_helix(1, 1, 1e300, 10); }).message.empty());
  EXPECT_FALSE(mistake_of([] { make_polyline(std::vector<Vec3>(1001, Vec3::Zero()), 10000); }).message.empty());
}

}  // namespace
}  // namespace clatter::fem
