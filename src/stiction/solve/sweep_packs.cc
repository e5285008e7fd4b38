#include "stiction/solve/sweep_packs.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>

#include "stiction/base/prefetch.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/long_vectors.h"

namespace stiction {
namespace {

/// Packs that one task takes to fill, and contacts and bodies that one looks at.
constexpr int kPackGrain = 16, kContactGrain = 256, kBodyGrain = 256;

/// Contacts between the one that a pack is filled with and the one whose numbers are asked for.
constexpr int kAhead = 8;

/// Relative to the diagonal: what counts as rounding in a symmetric matrix.
constexpr double kAsymmetry = 1e-14;

/// The inverse of the largest condition of W, by a bound: beyond, steps by W⁻¹ in single precision
/// are rounding.
constexpr float kLeastInverse = 1e-4F;

/// A determinant that is smaller by this than the product of the diagonal leaves no inverse that an
/// iteration could use.
constexpr double kNearlySingular = 1e-10;

}  // namespace

template <class Real>
bool SweepPacks<Real>::lay_out(const StepProblem& problem, const ContactBlocks& blocks,
                               const SweepOrder& order) {
  problem_ = &problem;
  blocks_ = &blocks;
  order_ = &order;
  forget_momentum();
  if (!is_packable(problem, blocks)) return false;
  number_bodies(order);
  if (!scale_bodies(problem)) return false;
  if (!list_contact_units() || !choose_unit()) return false;
  list_ends();
  form_packs(order);
  return fill_packs();
}

/// Everything is zero afterwards.
template <class Real>
void SweepPacks<Real>::make_room() {
  const auto num_impulses = static_cast<std::size_t>(kImpulses) * num_packs();
  first_body_line_ = static_cast<int>((num_impulses + kLineSize - 1) / kLineSize);
  lines_.assign(first_body_line_ + num_bodies_ + task_start_.size() - 1, {});
}

template <class Real>
bool SweepPacks<Real>::is_packable(const StepProblem& problem, const ContactBlocks& blocks) {
  if (blocks.num_bilateral() > 0 || blocks.has_coupling() || blocks.num_units() == 0) return false;
  std::atomic<bool> are_all = true;
  run_numbers(blocks.workers(), blocks.num_units(), kContactGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      if (!is_packable(problem, blocks, i)) {
        are_all = false;
        return;
      }
  });
  return are_all;
}

template <class Real>
bool SweepPacks<Real>::is_packable(const StepProblem& problem, const ContactBlocks& blocks,
                                   int contact) {
  const int first = blocks.unit(contact).entry_begin, end = blocks.unit(contact + 1).entry_begin;
  const bool is_disc = blocks.unit(contact).dim == 3 && problem.mu[contact] != 0 &&
                       problem.section[contact].kind == FrictionSection::Kind::kDisc;
  if (!is_disc || end - first > 2) return false;
  for (int e = first; e < end; ++e)
    if (blocks.entry(e).columns != kBodySize) return false;
  return end - first < 2 || blocks.entry(first).block != blocks.entry(first + 1).block;
}

/// D: what bodies would move by without impulses, and biases. False if there is no such number.
template <class Real>
bool SweepPacks<Real>::choose_unit() {
  unit_ = 1;
  if (!kIsSingle) return true;
  // Squared, of bodies and then of contacts.
  motion_.assign((num_bodies_ + kBodyGrain - 1) / kBodyGrain, 0.0);
  run_blocks(blocks_->workers(), num_bodies_, kBodyGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      double w[kBodySize], square = 0;
      scale_velocity(bodies_[i], blocks_->free_velocity().data() + bodies_[i].dof, w);
      for (const double x : w) square += x * x;
      motion_[begin / kBodyGrain] = std::max(motion_[begin / kBodyGrain], square);
    }
  });
  double largest = num_bodies_ > 0 ? *std::max_element(motion_.begin(), motion_.end()) : 0;
  for (int i = 0; i < blocks_->num_units(); ++i)
    for (int a = 0; a < 3; ++a) {
      const double bias = blocks_->bias(blocks_->unit(i).row + a) * contact_unit(i);
      largest = std::max(largest, bias * bias);
    }
  if (largest > 0) unit_ = std::sqrt(largest);
  return std::isnormal(unit_) && std::isnormal(1 / unit_);
}

/// What impulses and velocities of a contact count in beside the unit of the packs: 1/√ω and √ω in
/// single precision. False if nothing moves a contact.
template <class Real>
bool SweepPacks<Real>::list_contact_units() {
  contact_unit_.resize(blocks_->num_units());
  std::atomic<bool> are_good = true;
  run_numbers(blocks_->workers(), blocks_->num_units(), kContactGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const double omega = trace(*blocks_, i);
      contact_unit_[i] = kIsSingle ? 1 / std::sqrt(omega) : 1;
      if (!(omega > 0)) are_good = false;
    }
  });
  return are_good;
}

/// Of W.
template <class Real>
double SweepPacks<Real>::trace(const ContactBlocks& blocks, int contact) {
  const ContactBlocks::Unit& unit = blocks.unit(contact);
  double sum = 0;
  for (int a = 0; a < 3; ++a) {
    sum += blocks.compliance(unit.row + a);
    for (int e = unit.entry_begin; e < blocks.unit(contact + 1).entry_begin; ++e)
      sum += blocks.entry_squares(e)[a];
  }
  return sum;
}

/// Bodies of a slab follow each other, so that the thread that visits it finds all of them in its
/// own cache.
template <class Real>
void SweepPacks<Real>::number_bodies(const SweepOrder& order) {
  body_of_.assign(blocks_->num_blocks(), kNone);
  block_of_.clear();
  body_start_.assign(1, 0);
  for (int slab = 0; slab < order.num_slabs(); ++slab) {
    const auto number_those_of = [&](std::span<const int> contacts) {
      for (const int contact : contacts)
        for (int e = blocks_->unit(contact).entry_begin; e < blocks_->unit(contact + 1).entry_begin;
             ++e) {
          const int block = blocks_->entry(e).block;
          if (body_of_[block] != kNone || order.slab_of(block) != slab) continue;
          body_of_[block] = static_cast<int>(block_of_.size());
          block_of_.push_back(block);
        }
    };
    number_those_of(order.task(order.slab_task(slab)));
    if (slab > 0) number_those_of(order.task(order.border_task(slab - 1)));
    if (slab + 1 < order.num_slabs()) number_those_of(order.task(order.border_task(slab)));
    body_start_.push_back(static_cast<int>(block_of_.size()));
  }
  num_bodies_ = static_cast<int>(block_of_.size());
}

template <class Real>
bool SweepPacks<Real>::scale_bodies(const StepProblem& problem) {
  bodies_.resize(num_bodies_);
  std::atomic<bool> are_good = true;
  run_numbers(blocks_->workers(), num_bodies_, kBodyGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      if (!take_roots(problem, block_of_[i], bodies_[i])) are_good = false;
  });
  factors_.clear();
  for (Body& body : bodies_)
    if (are_good && body.factor >= 0 && !factor_body(problem, body)) are_good = false;
  return are_good;
}

/// Of a diagonal mass. Others are marked by a factor that is still to be found.
template <class Real>
bool SweepPacks<Real>::take_roots(const StepProblem& problem, int block, Body& body) {
  const ConstRowMatrixMap mass = problem.mass_block(block);
  body.dof = problem.dof_start[block];
  const bool is_diagonal = is_diagonal_matrix(mass.data(), kBodySize);
  body.factor = is_diagonal ? -1 : block;
  if (!is_diagonal) return true;
  for (int i = 0; i < kBodySize; ++i) body.root[i] = std::sqrt(mass(i, i));
  return invert_roots(body);
}

template <class Real>
bool SweepPacks<Real>::invert_roots(Body& body) {
  for (int i = 0; i < kBodySize; ++i) {
    body.reciprocal[i] = 1 / body.root[i];
    if (!(body.root[i] > 0) || !std::isfinite(body.reciprocal[i])) return false;
  }
  return true;
}

/// Cholesky's factor of a mass block that is not diagonal, whose number `factor` is at first.
template <class Real>
bool SweepPacks<Real>::factor_body(const StepProblem& problem, Body& body) {
  const ConstRowMatrixMap mass = problem.mass_block(body.factor);
  for (int i = 0; i < kBodySize; ++i)
    for (int j = 0; j < i; ++j) {
      if (mass(i, j) == 0 && mass(j, i) == 0) continue;
      if (!(std::abs(mass(i, j) - mass(j, i)) <=
            kAsymmetry * std::sqrt(std::abs(mass(i, i))) * std::sqrt(std::abs(mass(j, j)))))
        return false;
    }
  const Eigen::LLT<Eigen::Matrix<double, kBodySize, kBodySize>> llt(mass);
  if (llt.info() != Eigen::Success) return false;
  const Eigen::Matrix<double, kBodySize, kBodySize, Eigen::RowMajor> L = llt.matrixL();
  for (int i = 0; i < kBodySize; ++i) body.root[i] = L(i, i);
  body.factor = static_cast<int>(factors_.size());
  factors_.insert(factors_.end(), L.data(), L.data() + kFactorSize);
  return invert_roots(body);
}

// -------------------------------------------------------------------------------------------------
// Who goes where

template <class Real>
void SweepPacks<Real>::list_ends() {
  ends_.resize(blocks_->num_units());
  run_numbers(blocks_->workers(), blocks_->num_units(), kContactGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      ends_[i] = {};
      const int first = blocks_->unit(i).entry_begin;
      for (int e = first; e < blocks_->unit(i + 1).entry_begin; ++e)
        ends_[i].body[e - first] = body_of_[blocks_->entry(e).block];
    }
  });
}

/// Tasks of a phase have no body in common, so that they are formed side by side.
template <class Real>
void SweepPacks<Real>::form_packs(const SweepOrder& order) {
  num_packs_ = 0;
  count_.clear();
  task_of_.clear();
  task_start_.assign(1, 0);
  WorkerPool* const workers = blocks_->workers();
  for (int phase = 0; phase < order.num_phases(); ++phase) {
    const int num_tasks = order.num_tasks(phase);
    if (forming_.size() < static_cast<std::size_t>(num_tasks)) forming_.resize(num_tasks);
    last_pack_.assign(num_bodies_, -1);
    run_blocks(workers, num_tasks, 1,
               [&](int task, int) { form_task(order.task(phase, task), forming_[task]); });
    for (int task = 0; task < num_tasks; ++task) append_packs(forming_[task]);
  }
  make_room();
}

/// Every contact into a pack that is the last one of its bodies from then on.
template <class Real>
void SweepPacks<Real>::form_task(std::span<const int> contacts, TaskPacks& packs) {
  packs.clear();
  for (const int contact : contacts) {
    int pack = 0;
    for (const int body : ends_[contact].body)
      if (body != kNone) pack = std::max(pack, last_pack_[body] + 1);
    pack = packs.find_room(pack);
    for (const int body : ends_[contact].body)
      if (body != kNone) last_pack_[body] = pack;
    packs.add(contact, pack);
  }
}

/// Lanes that stay unused keep what they had: see fill_pack.
template <class Real>
void SweepPacks<Real>::append_packs(const TaskPacks& packs) {
  const int first = num_packs_;
  num_packs_ += packs.num_packs();
  if (num_packs_ > static_cast<int>(packs_.size())) packs_.resize(num_packs_);
  for (int p = 0; p < packs.num_packs(); ++p)
    std::copy_n(packs.contact[p].begin(), packs.count[p], packs_[first + p].contact);
  count_.insert(count_.end(), packs.count.begin(), packs.count.end());
  task_of_.resize(num_packs_, static_cast<int>(task_start_.size()) - 1);
  task_start_.push_back(num_packs_);
}

template <class Real>
void SweepPacks<Real>::TaskPacks::clear() {
  contact.clear();
  count.clear();
  room.clear();
}

template <class Real>
void SweepPacks<Real>::TaskPacks::add(int number, int pack) {
  if (pack == num_packs()) {
    contact.emplace_back();
    count.push_back(0);
    room.push_back(pack);
  }
  contact[pack][count[pack]++] = number;
  if (count[pack] == kLanes) room[pack] = pack + 1;
}

/// The first pack from `pack` on that is not full. Paths are halved on the way, so that long rows
/// of full packs are passed at once.
template <class Real>
int SweepPacks<Real>::TaskPacks::find_room(int pack) {
  while (pack < num_packs() && room[pack] != pack) {
    const int next = room[pack];
    if (next < num_packs()) room[pack] = room[next];
    pack = next;
  }
  return pack;
}

// -------------------------------------------------------------------------------------------------
// Numbers

/// Pieces of a body that is not there.
template <class Real>
void SweepPacks<Real>::clear_piece(Pack& pack, int side, int lane, std::ptrdiff_t nobody) {
  for (auto& row : pack.J)
    for (int k = 0; k < 6; ++k) row[6 * side + k][lane] = 0;
  pack.place[side][lane] = nobody;
}

/// The local problem of an unused lane.
template <class Real>
void SweepPacks<Real>::clear_local(Pack& pack, int lane) {
  for (int k = 0; k < 6; ++k) pack.W[k][lane] = pack.inverse[k][lane] = k == 0 || k == 3 || k == 5;
}

/// What an unused lane has beside: a contact that is open and that nothing moves.
template <class Real>
void SweepPacks<Real>::clear_lane(Pack& pack, int lane, std::ptrdiff_t nobody) {
  for (int side = 0; side < 2; ++side) clear_piece(pack, side, lane, nobody);
  pack.mu[lane] = 1;
  pack.rate[lane] = 0;
  for (int a = 0; a < 3; ++a) {
    pack.bias[a][lane] = a == 0 ? 1 : 0;
    pack.compliance[a][lane] = 0;
  }
  pack.contact[lane] = kNone;
}

template <class Real>
bool SweepPacks<Real>::fill_packs() {
  std::atomic<bool> are_good = true;
  run_numbers(blocks_->workers(), num_packs(), kPackGrain, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      fill_pack(p);
      if (!fill_local(packs_[p], count_[p])) are_good = false;
    }
  });
  return are_good;
}

template <class Real>
void SweepPacks<Real>::fill_pack(int p) {
  Pack& pack = packs_[p];
  for (int lane = 0; lane < count_[p]; ++lane) {
    if (blocks_->is_large()) ask_for(p, lane + kAhead);
    fill_lane(p, lane);
  }
  for (int lane = count_[p]; lane < kLanes; ++lane)
    if (pack.contact[lane] == kNone)  // since the last layout
      pack.place[0][lane] = pack.place[1][lane] = nobody(p);
    else
      clear_lane(pack, lane, nobody(p));
}

/// Contacts of a pack are spread over the memory.
template <class Real>
void SweepPacks<Real>::ask_for(int p, int lane) const {
  for (; lane >= count_[p]; ++p) {
    lane -= count_[p];
    if (p + 1 == num_packs()) return;
  }
  const int contact = packs_[p].contact[lane];
  blocks_->ask_for(contact);
  prefetch(&contact_unit_[contact]);
  for (const int body : ends_[contact].body)
    if (body != kNone) prefetch(&bodies_[body], sizeof(Body));
}

template <class Real>
void SweepPacks<Real>::fill_lane(int p, int lane) {
  const ContactBlocks& blocks = *blocks_;
  Pack& pack = packs_[p];
  const int contact = pack.contact[lane];
  const ContactBlocks::Unit& unit = blocks.unit(contact);
  const double unit_of_rows = contact_unit(contact), square = unit_of_rows * unit_of_rows;
  for (int side = 0; side < 2; ++side)
    if (ends_[contact].body[side] == kNone) clear_piece(pack, side, lane, nobody(p));
  for (int e = unit.entry_begin; e < blocks.unit(contact + 1).entry_begin; ++e) {
    const int side = e - unit.entry_begin, body = ends_[contact].body[side];
    pack.place[side][lane] = static_cast<std::ptrdiff_t>(kLineSize) * body;
    const auto store = [&](int a, int k, double number) {
      pack.J[a][side * kBodySize + k][lane] = static_cast<Real>(number);
    };
    const double* jacobian = blocks.entry(e).jacobian;
    if (bodies_[body].factor < 0) {
      for (int k = 0; k < kBodySize; ++k) {
        const double factor = bodies_[body].reciprocal[k] * unit_of_rows;
        for (int a = 0; a < 3; ++a) store(a, k, jacobian[a * kBodySize + k] * factor);
      }
      continue;
    }
    double piece[3 * kBodySize];
    scale_piece(bodies_[body], jacobian, piece);
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < kBodySize; ++k) store(a, k, piece[a * kBodySize + k] * unit_of_rows);
  }
  const double of_bias = unit_of_rows / unit_;
  for (int a = 0; a < 3; ++a) {
    pack.bias[a][lane] = static_cast<Real>(blocks.bias(unit.row + a) * of_bias);
    pack.compliance[a][lane] = static_cast<Real>(blocks.compliance(unit.row + a) * square);
  }
  pack.mu[lane] = static_cast<Real>(problem_->mu[contact]);
  pack.rate[lane] = 0;
}

/// W = J'J'ᵀ + C and W⁻¹ by cofactors, of the numbers that the lanes have. False if an inverse is
/// not good enough for an iteration.
template <class Real>
bool SweepPacks<Real>::fill_local(Pack& pack, int count) const {
  constexpr int kFirst[6] = {0, 0, 0, 1, 1, 2}, kSecond[6] = {0, 1, 2, 1, 2, 2};
  for (int n = 0; n < 6; ++n) {
    Real sum[kLanes] = {};
    for (int k = 0; k < 2 * kBodySize; ++k)
      for (int lane = 0; lane < kLanes; ++lane)
        sum[lane] += pack.J[kFirst[n]][k][lane] * pack.J[kSecond[n]][k][lane];
    for (int lane = 0; lane < kLanes; ++lane) pack.W[n][lane] = sum[lane];
  }
  Real quality[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const Real a = pack.W[0][lane] += pack.compliance[0][lane], b = pack.W[1][lane],
               c = pack.W[2][lane], d = pack.W[3][lane] += pack.compliance[1][lane],
               e = pack.W[4][lane], f = pack.W[5][lane] += pack.compliance[2][lane];
    const Real m0 = d * f - e * e, m1 = c * e - b * f, m2 = b * e - c * d, m3 = a * f - c * c,
               m4 = b * c - a * e, m5 = a * d - b * b;
    const Real determinant = a * m0 + (b * m1 + c * m2), factor = 1 / determinant;
    const Real cofactors[6] = {m0, m1, m2, m3, m4, m5};
    for (int n = 0; n < 6; ++n) pack.inverse[n][lane] = cofactors[n] * factor;
    pack.size[lane] = std::sqrt(a * a + d * d + f * f + 2 * (b * b + c * c + e * e));
    // In single precision the bound of the condition, else the determinant beside the diagonal.
    quality[lane] = kIsSingle ? determinant - (a + d + f) * (m0 + m3 + m5) * kLeastInverse
                              : determinant - a * d * f * kNearlySingular;
  }
  bool are_good = true;
  for (int lane = 0; lane < count; ++lane)
    are_good = are_good && quality[lane] > 0 && std::isfinite(pack.inverse[0][lane]);
  for (int lane = count; lane < kLanes; ++lane) clear_local(pack, lane);
  return are_good;
}

/// J L⁻ᵀ of a body whose mass has a factor.
template <class Real>
void SweepPacks<Real>::scale_piece(const Body& body, const double* jacobian, double* out) const {
  for (int a = 0; a < 3; ++a, jacobian += kBodySize, out += kBodySize)
    for (int k = 0; k < kBodySize; ++k) {
      double sum = jacobian[k];
      for (int j = 0; j < k; ++j) sum -= factors_[body.factor + k * kBodySize + j] * out[j];
      out[k] = sum * body.reciprocal[k];
    }
}

template <class Real>
const std::vector<Real>& SweepPacks<Real>::weigh() {
  weight_.assign(static_cast<std::size_t>(kImpulses) * num_packs(), Real{0});
  for (int p = 0; p < num_packs(); ++p)
    for (int lane = 0; lane < count_[p]; ++lane) {
      const int contact = packs_[p].contact[lane];
      const double weight = kIsSingle ? 1 : std::sqrt(trace(*blocks_, contact));
      for (int a = 0; a < 3; ++a) weight_[(3 * p + a) * kLanes + lane] = static_cast<Real>(weight);
    }
  return weight_;
}

// -------------------------------------------------------------------------------------------------
// Sweeps

template <class Real>
double SweepPacks<Real>::run() {
  constexpr int kTwo = 2;
  task_change_.assign(task_start_.size() - 1, 0.0);
  WorkerPool* const workers = blocks_->workers();
  const int num_threads = workers == nullptr ? 1 : workers->num_threads();
  if (order_->num_slabs() == 2 * kTwo && num_threads <= kTwo)
    run_by_two();
  else
    run_by_all();
  has_image_ = has_image_ || is_due_;
  is_due_ = false;
  return *std::max_element(task_change_.begin(), task_change_.end());
}

/// What is between the second and the third slab with the first one, beside the last one; then
/// the second with its border to the first, beside the third with its border to the last.
template <class Real>
void SweepPacks<Real>::run_by_two() {
  const auto slab = [this](int k) { return order_->slab_task(k); };
  const auto border = [this](int k) { return order_->border_task(k); };
  const int middle = border(1);
  run_blocks(blocks_->workers(), 2, 1, [&](int side, int) {
    carry_on_slab(side == 0 ? 0 : 3);
    if (side == 1) return run_task(slab(3));
    for (const int between : {1, 2}) carry_on_bodies(between);
    carry_on_task(middle);
    run_task(middle);
    run_task(slab(0));
  });
  run_blocks(blocks_->workers(), 2, 1, [&](int side, int) {
    carry_on_task(slab(1 + side));
    if (side == 1) carry_on_task(border(2));
    run_task(slab(1 + side));
    run_task(border(2 * side));
  });
}

template <class Real>
void SweepPacks<Real>::run_by_all() {
  const int num_slabs = order_->num_slabs();
  run_blocks(blocks_->workers(), num_slabs, 1, [&](int slab, int) { carry_on_slab(slab); });
  int first = 0;
  for (int phase = 0; phase < order_->num_phases(); ++phase) {
    const int num_tasks = order_->num_tasks(phase);
    run_blocks(blocks_->workers(), num_tasks, 1, [&](int task, int) { run_task(first + task); });
    first += num_tasks;
  }
}

template <class Real>
void SweepPacks<Real>::run_task(int task) {
  const int begin = task_start_[task], end = task_start_[task + 1];
  if (begin < end)
    task_change_[task] = visit_packs<Real>(std::span(packs_).subspan(begin, end - begin),
                                           {impulses(begin), velocities(), hold_});
}

template <class Real>
void SweepPacks<Real>::carry_on(double beta) {
  momentum_ = static_cast<Real>(beta);
  image_.resize(lines_.size());
  is_due_ = true;
}

template <class Real>
void SweepPacks<Real>::settle() {
  if (!is_due_) return;
  for (int slab = 0; slab < order_->num_slabs(); ++slab) carry_on_slab(slab);
  has_image_ = true;
  is_due_ = false;
}

/// Impulses of the slab and of its border to the next one, and velocities of its bodies.
template <class Real>
void SweepPacks<Real>::carry_on_slab(int slab) {
  carry_on_bodies(slab);
  carry_on_task(order_->slab_task(slab));
  if (slab + 1 < order_->num_slabs()) carry_on_task(order_->border_task(slab));
}

template <class Real>
void SweepPacks<Real>::carry_on_bodies(int slab) {
  const auto first = static_cast<std::ptrdiff_t>(first_velocity());
  carry_on_numbers(first + std::ptrdiff_t{kLineSize} * body_start_[slab],
                   first + std::ptrdiff_t{kLineSize} * body_start_[slab + 1]);
}

template <class Real>
void SweepPacks<Real>::carry_on_task(int task) {
  carry_on_numbers(std::ptrdiff_t{kImpulses} * task_start_[task],
                   std::ptrdiff_t{kImpulses} * task_start_[task + 1]);
}

template <class Real>
void SweepPacks<Real>::carry_on_numbers(std::ptrdiff_t first, std::ptrdiff_t end) {
  if (!is_due_) return;
  Real *z = numbers() + first, *last = reinterpret_cast<Real*>(image_.data()) + first;
  if (has_image_)
    LongVectors<Real>::chosen().carry_on(momentum_, static_cast<int>(end - first), last, z);
  else
    std::copy_n(z, end - first, last);
}

template class SweepPacks<double>;
template class SweepPacks<float>;

}  // namespace stiction
