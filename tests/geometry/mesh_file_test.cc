#include "stiction/geometry/mesh_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/geometry/mass_properties.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

std::optional<Mesh> parse(const std::string& text, std::string* messages = nullptr,
                          bool is_stl = false) {
  Diagnostics diagnostics("file");
  std::optional<Mesh> mesh = is_stl ? parse_stl(text, diagnostics) : parse_obj(text, diagnostics);
  EXPECT_EQ(mesh.has_value(), !diagnostics.has_errors());
  if (mesh) {
    EXPECT_EQ(find_fault(*mesh), "");
  }
  if (messages) *messages = diagnostics.to_text();
  return mesh;
}

/// The text must be refused with all these words.
void expect_refused(const std::string& text, std::initializer_list<const char*> words,
                    bool is_stl = false) {
  std::string messages;
  EXPECT_FALSE(parse(text, &messages, is_stl).has_value()) << text;
  for (const char* word : words) {
    EXPECT_NE(messages.find(word), std::string::npos) << "'" << word << "' not in:\n" << messages;
  }
}

const char* const kCube =
    "# a cube\no cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1 1.0\n"
    "v +0 1e0 1\nvn 0 0 1\nvt 0 0\nusemtl red\ns off\n"
    "f 4 3 2 1\nf 5/1 6/1 7/1 8/1\nf 1//1 2//1 6//1 5//1\nf 2/1/1 3/1/1 7/1/1 6/1/1\n"
    "f -6 \\\n -5 -1 -2\nf 1 5 8 4\r\n";

std::string text_stl(const Mesh& mesh) {
  std::string text = "solid box\n";
  for (const Triangle& t : mesh.triangles) {
    text += " facet normal 0 0 0\n  outer loop\n";
    for (const int v : t) {
      text += "   vertex " + std::to_string(mesh.vertices[v].x()) + " " +
              std::to_string(mesh.vertices[v].y()) + " " + std::to_string(mesh.vertices[v].z()) +
              "\n";
    }
    text += "  endloop\n endfacet\n";
  }
  return text + "endsolid box\n";
}

void put(std::string& bytes, std::uint32_t word) {
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(word >> (8 * k) & 255);
}

std::string binary_stl(const Mesh& mesh) {
  std::string bytes = "solid, although binary";
  bytes.resize(80, ' ');
  put(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const Triangle& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) put(bytes, 0);
    for (const int v : t) {
      for (const double x : mesh.vertices[v]) {
        put(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(x)));
      }
    }
    bytes += std::string(2, '\0');
  }
  return bytes;
}

TEST(MeshFile, ReadsObjWithQuadsAndAllKindsOfReferences) {
  const std::optional<Mesh> mesh = parse(kCube);
  ASSERT_TRUE(mesh.has_value());
  EXPECT_EQ(mesh->vertices.size(), 8u);
  EXPECT_EQ(mesh->triangles.size(), 12u);
  EXPECT_EQ(find_closure_fault(*mesh), "");
  EXPECT_NEAR(compute_mass_properties(*mesh, 1)->mass, 1, 1e-15);
}

TEST(MeshFile, CutsPolygonsThatAreNotConvex) {
  // An L of area 3, starting at every corner, both ways around.
  const std::vector<std::array<int, 2>> l{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  for (int start = 0; start < 6; ++start) {
    for (const bool is_reversed : {false, true}) {
      std::string text, face = "f";
      for (const auto& [x, y] : l) {
        text += "v " + std::to_string(x) + " " + std::to_string(y) + " 7\n";
      }
      for (int i = 0; i < 6; ++i) {
        face += " " + std::to_string(1 + (start + (is_reversed ? 6 - i : i)) % 6);
      }
      const std::optional<Mesh> mesh = parse(text + face + "\n");
      ASSERT_TRUE(mesh.has_value());
      ASSERT_EQ(mesh->triangles.size(), 4u);
      double sum = 0;
      for (const Triangle& t : mesh->triangles) {
        const Vector3d &p = mesh->vertices[t[0]], &q = mesh->vertices[t[1]],
                       &r = mesh->vertices[t[2]];
        const double area = (q - p).cross(r - p).z() / 2;
        EXPECT_GT(area * (is_reversed ? -1 : 1), 0);
        sum += std::abs(area);
      }
      EXPECT_NEAR(sum, 3, 1e-15);
    }
  }
}

TEST(MeshFile, ReadsStlAndWeldsItsCorners) {
  const Mesh box = box_mesh({1, 2, 4});
  for (const std::string& bytes : {text_stl(box), binary_stl(box)}) {
    const std::optional<Mesh> mesh = parse(bytes, nullptr, true);
    ASSERT_TRUE(mesh.has_value());
    EXPECT_EQ(mesh->vertices.size(), 8u);
    EXPECT_EQ(mesh->triangles.size(), 12u);
    EXPECT_EQ(find_closure_fault(*mesh), "");
    EXPECT_NEAR(compute_mass_properties(*mesh, 1)->mass, 8, 1e-12);
  }
}

TEST(MeshFile, SaysWhereObjIsWrong) {
  expect_refused("", {"no face"});
  expect_refused("v 0 0 0\n", {"1 vertices", "no face"});
  expect_refused("v 0 0\nf 1 2 3\n", {"file:1:1", "2 numbers", "expected 3", "file:2", "vertex 2"});
  expect_refused("v 0 0 x\n", {"file:1:7", "'x'", "finite number"});
  expect_refused("v 0 0 nan\n", {"file:1:7"});
  expect_refused("v 0 0 1e999\n", {"file:1:7"});
  expect_refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", {"file:4", "vertex 4", "1 to 3"});
  expect_refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", {"file:4", "1 to 3"});
  expect_refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", {"file:4:7", "'0'"});
  expect_refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", {"file:4", "2 corners"});
  expect_refused("v 0 0 0\nf 99999999999999999999 1 1\n", {"file:2:3"});
}

TEST(MeshFile, SaysWhereStlIsWrong) {
  expect_refused("", {"no triangle"}, true);
  expect_refused("solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendfacet\nendsolid\n",
                 {"file:5", "2 vertices", "expected 3"}, true);
  expect_refused("solid a\nfacet\nvertex 0 0 q\n", {"file:3:12", "'q'"}, true);
  expect_refused("solid a\nbanana\n", {"file:2:1", "'banana'", "'facet' or 'endsolid'"}, true);
  expect_refused("solid a\nfacet\nvertex 0 0 0\n", {"file:3", "ends here", "endfacet"}, true);
  expect_refused("banana", {"file:1:1", "'solid'"}, true);
  std::string bytes = binary_stl(box_mesh({1, 1, 1}));
  bytes[0] = 'b';
  expect_refused(bytes.substr(0, 500), {"byte 80", "12 triangles", "684 bytes", "500"}, true);
  for (int k = 0; k < 4; ++k) bytes[84 + 50 * 3 + 12 + k] = static_cast<char>(0xff);
  expect_refused(bytes, {"byte 246", "triangle 3", "nan"}, true);
}

TEST(MeshFile, ReportsManyFaultsButNotWithoutEnd) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "v a b c\n";
  Diagnostics diagnostics("file");
  EXPECT_FALSE(parse_obj(text, diagnostics).has_value());
  EXPECT_EQ(diagnostics.all().size(), 20u);
}

TEST(MeshFile, ReadsFromAPath) {
  const std::filesystem::path folder = ::testing::TempDir();
  const std::filesystem::path path = folder / "stiction_mesh_file_test.OBJ";
  std::ofstream(path) << kCube;
  EXPECT_EQ(read_mesh_file(path).triangles.size(), 12u);
  std::ofstream(path) << "v 1 2\n";
  EXPECT_THROW(read_mesh_file(path), InputError);
  std::filesystem::remove(path);
  EXPECT_THROW(read_mesh_file(path), IoError);
  EXPECT_THROW(read_mesh_file(folder / "mesh.png"), InputError);
  EXPECT_THROW(read_mesh_file(folder / "missing.stl"), IoError);
}

TEST(MeshFile, SurvivesDamagedFiles) {
  Random random(1);
  const std::string text = text_stl(box_mesh({1, 2, 3})), binary = binary_stl(box_mesh({1, 2, 3}));
  for (int k = 0; k < 6000; ++k) {
    const bool is_stl = k % 3 != 0;
    std::string bytes = k % 3 == 0 ? std::string(kCube) : k % 3 == 1 ? text : binary;
    if (random.chance(0.5)) {
      bytes.resize(random.integer(0, static_cast<int>(bytes.size())));
    }
    const int num_changes = random.integer(0, 8);
    for (int i = 0; i < num_changes && !bytes.empty(); ++i) {
      const int at = random.integer(0, static_cast<int>(bytes.size()) - 1);
      const char letters[] = "0123456789-+.ef/\\ \nv#\xff";
      bytes[at] = letters[random.integer(0, static_cast<int>(sizeof letters) - 2)];
    }
    parse(bytes, nullptr, is_stl);  // checks that it is a mesh without fault or none with errors
  }
}

}  // namespace
}  // namespace stiction
