// What the certificate sees of the rows of a step problem, gathered in one pass over the problem
// and the answer: mass blocks in the norm of the kinetic energy, and every row block from its own
// side. Sizes of mass blocks that mechanics knows are known to the compiler, since in a small scene
// this pass is most of what a certificate costs. Part of the certificate; shares nothing with a
// solver.
#pragma once

#include <array>
#include <vector>

#include "stiction/base/pair.h"
#include "stiction/base/worker_pool.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

/// A bilateral row; the same numbers as below.
struct RowView {
  double u, arm, reach, delassus, own, largest_coupling;
};

/// A contact of up to three rows.
struct RowBlockView {
  std::array<double, 3> u = {};    // [m/s] J w + K x
  std::array<double, 3> arm = {};  // Σ_e ‖L⁻¹J_eᵀ‖: times an impulse in √J, a velocity
  std::array<double, 3> reach = {};     // [m/s] Σ|K x|
  std::array<double, 3> delassus = {};  // diagonal of J S⁻¹Jᵀ + K
  // The same with the largest entry of a row of K in place of a diagonal entry that is not
  // positive.
  std::array<double, 3> own = {};
  double cross = 0;  // of the two tangents in J S⁻¹Jᵀ + (K + Kᵀ)/2
  double largest_coupling = 0;
};

/// One mass block, in √J: ‖x‖² = xᵀS⁻¹x.
struct MassBlockView {
  double momentum = 0;  // ‖M̂w‖ + ‖p‖
  double involved = 0;  // the same and Σ ‖impulses‖
  double defect = 0;    // ‖M̂w − p − Gᵀλ − Jᵀr‖
};

class CertificateRows {
 public:
  /// Workers, if there are any, share out large problems of free rigid bodies; bits are the same.
  explicit CertificateRows(WorkerPool* workers = nullptr) : workers_(workers) {}

  /// Sizes must fit and the answer be finite. False if the symmetric part S = LLᵀ of a mass block
  /// is not positive definite or not finite.
  [[nodiscard]] bool gather(const StepProblem& problem, const StepSolution& solution);

  const std::vector<MassBlockView>& blocks() const { return blocks_; }
  const std::vector<RowView>& bilateral() const { return bilateral_; }
  const std::vector<RowBlockView>& contacts() const { return contacts_; }

 private:
  /// A vector of a body: linear and angular components x, y, z side by side.
  struct Paired {
    Pair x = {}, y = {}, z = {};
  };
  /// A body whose linear and angular velocities are not coupled by its mass block: two halves that
  /// take the same operations, done at once.
  struct SplitBody {
    Pair l10, l20, l21;     // of L, whose diagonal is 1
    Pair inv0, inv1, inv2;  // of the pivots
    Paired w, defect;

    bool factor(const double* mass);
    Paired solve(const Paired& x) const;
    double product(const Paired& a, const Paired& b) const;
    double energy_norm(const Paired& x) const;
    bool gather(const double* mass, const double* w_of_body, const double* p_of_body,
                MassBlockView& view);
    /// One row's share of a view.
    struct Share {
      double u = 0, arm = 0, delassus = 0;
    };
    /// What a row sees of the body: into the share, L⁻¹Jᵀ and its length.
    Paired look(const double* row, Share& share, double& norm) const;
    /// What the impulse of a row does to the body.
    void take(const double* row, double impulse, double norm, double& involved);
    Paired meet(const double* row, double impulse, double& involved, Share& share);
  };
  /// Where a contact touches a mass block.
  struct Touch {
    int contact, entry;
  };

  double meet_split(const double* jacobian, int num_rows, const double* impulse, SplitBody& body,
                    RowBlockView& view);
  bool gather_blocks(const StepProblem& problem, const StepSolution& solution);
  bool gather_block(const StepProblem& problem, const StepSolution& solution, int block);
  bool is_shared_out(const StepProblem& problem) const;
  void share_out_contacts(const StepProblem& problem, const StepSolution& solution);
  void look_at_bodies(const BlockRows& rows, int contact);
  void take_impulses(const BlockRows& rows, const StepSolution& solution, int block);
  void list_touches(const StepProblem& problem);
  void gather_bilateral(const StepProblem& problem, const StepSolution& solution);
  void gather_contacts(const StepProblem& problem, const StepSolution& solution);
  void meet_blocks(const StepProblem& problem, const BlockRows& rows, const StepSolution& solution,
                   const double* impulse, int row_block, RowBlockView& view);
  void gather_coupling(const StepProblem& problem, const StepSolution& solution);
  void measure_defects(const StepProblem& problem);

  std::vector<double> factor_;    // L block by block, row-major, with 1/L_ii on the diagonal
  std::vector<double> defect_;    // M̂w − p − Gᵀλ − Jᵀr
  std::vector<SplitBody> split_;  // per block, where is_split_; others have the two above
  std::vector<char> is_split_;
  std::vector<MassBlockView> blocks_;
  std::vector<RowView> bilateral_;
  std::vector<RowBlockView> contacts_;
  std::vector<double> scratch_;  // for three vectors of the size of the largest block
  WorkerPool* workers_ = nullptr;
  std::vector<double> norms_;  // ‖L⁻¹Jᵀ‖ of the rows of contacts, three per entry
  std::vector<int> touch_start_;
  std::vector<Touch> touches_;  // by mass blocks, in the order of contacts
};

}  // namespace stiction
