#include "stiction/scheme/step_forces.h"

namespace stiction {
namespace {

/// Contacts that one task takes.
constexpr int kGrain = 512;

}  // namespace

void StepForces::recall(const ContactModel& model, const SchemeMemory& memory) {
  joints = memory.joint_forces;
  contacts = memory.contact_forces;
  joints.resize(model.num_joint_rows(), 0.0);
  contacts.resize(static_cast<std::size_t>(3) * model.num_contacts(), 0.0);
}

void StepForces::keep(SchemeMemory& memory) {
  memory.joint_forces.swap(joints);
  memory.contact_forces.swap(contacts);
}

void StepForces::read(const ContactModel& model, const StepAssembly& assembly,
                      const StepSolution& solution, double h) {
  joints.assign(model.num_joint_rows(), 0.0);
  contacts.assign(static_cast<std::size_t>(3) * model.num_contacts(), 0.0);
  for (std::size_t i = 0; i < assembly.joint_rows().size(); ++i)
    if (const int row = assembly.joint_rows()[i].joint_row; row >= 0)
      joints[row] = solution.lambda[i] / h;
  const BlockRows& rows = assembly.problem().contacts;
  run_numbers(model.workers().get(), rows.num_row_blocks(), kGrain, [&](int begin, int end) {
    for (int j = begin; j < end; ++j)
      for (int i = 0; i < rows.num_rows(j); ++i)
        contacts[static_cast<std::size_t>(3) * assembly.contact_indices()[j] + i] =
            solution.r[rows.row_start(j) + i] / h;
  });
}

void StepForces::write(const ContactModel& model, const StepAssembly& assembly, double h,
                       StepSolution& start) const {
  start.lambda.resize(assembly.joint_rows().size());
  for (std::size_t i = 0; i < assembly.joint_rows().size(); ++i) {
    const int row = assembly.joint_rows()[i].joint_row;
    start.lambda[i] = row < 0 ? 0 : h * joints[row];
  }
  const BlockRows& rows = assembly.problem().contacts;
  start.r.resize(rows.num_rows());
  run_numbers(model.workers().get(), rows.num_row_blocks(), kGrain, [&](int begin, int end) {
    for (int j = begin; j < end; ++j)
      for (int i = 0; i < rows.num_rows(j); ++i)
        start.r[rows.row_start(j) + i] =
            h * contacts[static_cast<std::size_t>(3) * assembly.contact_indices()[j] + i];
  });
}

}  // namespace stiction
