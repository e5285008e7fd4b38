// Families of random step problems on which every solver is tried, each a seeded generator: small,
// so that all of them run in a moment, and each nasty in one way. Unlike random_problem.h, which
// stays where Lemke's method is guaranteed, they have negative and tangential biases, coupling
// matrices that are not symmetric, every friction section, and the trivial problems at the edge.
// All problems have a solution; the reason stands at the family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/step_problem.h"

namespace stiction::testing {

struct ProblemFamily {
  std::string name;
  StepProblem (*make)(std::uint64_t seed);
};

/// Contacts of one problem: planar, or in space with one section for all, so that a solver that
/// refuses a section still meets a share of every family.
struct ContactStyle {
  int num_tangents = 1;
  FrictionSection section;
};

ContactStyle contact_style(std::uint64_t seed);

/// Bodies with random symmetric mass, random rows between them, and what a family varies.
class FamilyMaker {
 public:
  explicit FamilyMaker(std::uint64_t seed)
      : random(seed * 0x9e3779b97f4a7c15u + 17), style(contact_style(seed)) {}

  double number() { return is_integer ? random.integer(-1, 1) : random.normal(); }

  /// Masses from 1 to `ratio`, evenly in their logarithm.
  void add_bodies(int count, int size, double ratio = 1);

  /// Pieces of the newest row block in one or two bodies.
  void add_pieces(BlockRows& rows);

  void add_contact(double mu);

  /// A contact with the rows of contact `model`.
  void add_copy(int model, double mu);

  void add_joint(const StepProblem::BilateralRow& row);

  void push_bodies();

  Random random;
  ContactStyle style;
  StepProblem problem;
  bool is_integer = false;  // entries −1, 0, 1 and unit masses: exact degeneracy

 private:
  void add_piece(BlockRows& rows, int block);
};

void set_coupling(StepProblem& problem, const MatrixXd& W);

// ------------------------------------------------------------------------------- the families

/// An LCP whose matrix has dominating rows and is not symmetric: a P matrix, one solution.
StepProblem p_matrix(std::uint64_t seed);

/// Solvable by theorem 2.2 of Anitescu & Potra, in all its variety.
StepProblem copositive(std::uint64_t seed);

/// Friction in Delassus form with a W that has the rank of `rank` contacts.
StepProblem condensed_family(std::uint64_t seed, int num_contacts, int rank, double skew);

/// W of half its size in rank; q lies in its range.
StepProblem rank_deficient(std::uint64_t seed);

/// W not symmetric, its symmetric part positive definite.
StepProblem nonsymmetric(std::uint64_t seed);

/// Every contact twice or three times; no biases, so that copies agree with each other.
StepProblem duplicate_contacts(std::uint64_t seed);

StepProblem mass_ratio(std::uint64_t seed);

/// μ from 0 to 10.
StepProblem friction_range(std::uint64_t seed);

/// Entries −1, 0, 1, no biases, bodies often at rest: zero gaps and exact ties everywhere.
StepProblem zero_data(std::uint64_t seed);

/// Biases of any sign in all rows. Rows are independent, so impulses cannot cancel each other.
StepProblem signed_bias(std::uint64_t seed);

/// The problem in units in which masses, speeds, or both are tiny or huge.
StepProblem strange_units(std::uint64_t seed);

/// Nothing at all, bodies alone, and bodies that contacts leave in peace.
StepProblem trivial(std::uint64_t seed);

/// Joints alone, the last a copy of the first with the same bias in every second problem.
StepProblem bilateral_only(std::uint64_t seed);

/// Motors: bounds that hold the impulse in some rows, on one side, on both, or entirely.
StepProblem bounded_only(std::uint64_t seed);

/// Joints, motors and contacts with biases together; rows are independent.
StepProblem machine(std::uint64_t seed);

std::vector<ProblemFamily> problem_families();

}  // namespace stiction::testing
