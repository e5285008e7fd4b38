// Dense complementarity problems 0 ≤ z ⊥ M z + q ≥ 0 for the comparison of Lemke's methods: the LCP
// files of a folder, and friction problems with polygonal sections from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stiction::bench {

struct DenseLcp {
  std::string name;
  std::string family;  // "file", or the number of sides of the section
  int size = 0;
  int num_contacts = 0;        // 0: not of mechanics
  std::vector<double> matrix;  // M, row-major
  std::vector<double> q;
};

/// The LCPs among the files (.hdf5, .h5) of a folder, by name. Throws what reading throws.
std::vector<DenseLcp> read_lcp_folder(const std::string& folder);

struct ContactScene {
  int num_contacts = 5;
  int num_sides = 8;
  std::uint64_t seed = 1;
};
/// Rigid bodies in space, half as many as contacts, thrown at each other and at the ground, in the
/// papers' form (T5). M is copositive and every problem has a solution.
DenseLcp make_friction_lcp(const ContactScene& scene);

/// ‖min(z, M z + q)‖ / ‖q‖, the error of the problem collection; infinite if z is not finite.
double compute_lcp_error(const DenseLcp& lcp, const std::vector<double>& z);

}  // namespace stiction::bench
