#include "stiction/scheme/step_forces.h"

#include "stiction/base/known_size.h"

namespace stiction {
namespace {

/// Contacts that one task takes.
constexpr int kGrain = 512;

/// visit(row of the problem, place among three per contact) for all rows of contacts.
template <class Visit>
void visit_contact_rows(const ContactModel& model, const StepAssembly& assembly,
                        const Visit& visit) {
  const BlockRows& rows = assembly.problem().contacts;
  const int* indices = assembly.contact_indices().data();
  run_numbers(model.workers().get(), rows.num_row_blocks(), kGrain, [&](int begin, int end) {
    for (int j = begin; j < end; ++j)
      with_known_size<3>(rows.num_rows(j), [&]<int kRows>() {
        const std::size_t row = rows.row_start(j), place = std::size_t{3} * indices[j];
        for (int i = 0; i < known<kRows>(rows.num_rows(j)); ++i) visit(row + i, place + i);
      });
  });
}

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
  visit_contact_rows(model, assembly,
                     [&, r = solution.r.data(), out = contacts.data()](
                         std::size_t row, std::size_t place) { out[place] = r[row] / h; });
}

void StepForces::write(const ContactModel& model, const StepAssembly& assembly, double h,
                       StepSolution& start) const {
  start.lambda.resize(assembly.joint_rows().size());
  for (std::size_t i = 0; i < assembly.joint_rows().size(); ++i) {
    const int row = assembly.joint_rows()[i].joint_row;
    start.lambda[i] = row < 0 ? 0 : h * joints[row];
  }
  start.r.resize(assembly.problem().contacts.num_rows());
  visit_contact_rows(model, assembly,
                     [&, r = start.r.data(), from = contacts.data()](
                         std::size_t row, std::size_t place) { r[row] = h * from[place]; });
}

}  // namespace stiction
