#include "stiction/app/study_ranks.h"

#ifdef STICTION_HAS_MPI

#include <mpi.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

namespace stiction {
namespace {

constexpr int kWork = 1, kRow = 2;
constexpr std::int64_t kNoMore = -1;

/// Waiting inside MPI burns a core; ranks look instead, again and again.
void wait_a_moment() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

void send_run(std::int64_t run, int rank) {
  MPI_Send(&run, 1, MPI_INT64_T, rank, kWork, MPI_COMM_WORLD);
}

/// The next row that a rank has sent, with the rank.
bool try_receive_row(StudyRow& row, int& rank) {
  int is_there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kRow, MPI_COMM_WORLD, &is_there, &status);
  if (is_there == 0) return false;
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  rank = status.MPI_SOURCE;
  MPI_Recv(bytes.data(), size, MPI_CHAR, rank, kRow, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  row = unpack(bytes);
  return true;
}

bool is_readable(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

/// Never throws: a rank that cannot start processes answers so.
StudyRow execute_apart(RunProcess& process, const Study& study, std::int64_t run) {
  try {
    process.start(run);
    return process.finish();
  } catch (const std::exception& error) {
    return make_failure(study, run, "error", error.what());
  }
}

}  // namespace

/// Both kinds of launchers tell their children how many they are.
bool is_one_of_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  return false;
}

Ranks::Ranks() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Ranks::~Ranks() {
  StudyRow lost;
  int rank = 0;
  while (num_busy_ > 0)
    if (try_receive_row(lost, rank))
      --num_busy_;
    else
      wait_a_moment();
  if (is_first() && has_servers_)
    for (int other = 1; other < size_; ++other) send_run(kNoMore, other);
  MPI_Finalize();
}

Ranks::Agreement Ranks::agree_on(std::uint64_t fingerprint) {
  std::uint64_t first = fingerprint;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  const int is_same_here = fingerprint == first ? 1 : 0;
  int is_same = 0;
  MPI_Allreduce(&is_same_here, &is_same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  has_servers_ = first != 0 && is_same != 0;
  return {.is_good_on_first = first != 0, .is_same_on_all = has_servers_};
}

bool Ranks::run(const StudyWork& work) {
  RunProcess own(work.study);
  std::size_t next = 0;
  const auto give_next = [&](int rank) {
    if (next == work.runs.size()) return;
    const std::int64_t run = work.runs[next++];
    if (rank == 0) return own.start(run);
    send_run(run, rank);
    ++num_busy_;
  };
  for (int rank = size_ - 1; rank >= 0; --rank) give_next(rank);
  while (num_busy_ > 0 || own.is_busy()) {
    if (work.should_stop()) next = work.runs.size();  // what is in progress comes to its end
    StudyRow row;
    int rank = 0;
    if (try_receive_row(row, rank)) {
      --num_busy_;
      work.deliver(row);
      give_next(rank);
    } else if (own.is_busy() && is_readable(own.socket())) {
      work.deliver(own.finish());
      give_next(0);
    } else {
      wait_a_moment();
    }
  }
  return !work.should_stop();
}

void Ranks::serve(const Study& study) const {
  RunProcess process(study);
  for (;;) {
    int is_there = 0;
    MPI_Iprobe(0, kWork, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there == 0) {
      wait_a_moment();
      continue;
    }
    std::int64_t run = 0;
    MPI_Recv(&run, 1, MPI_INT64_T, 0, kWork, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (run == kNoMore) return;
    const std::string bytes = pack(execute_apart(process, study, run));
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, kRow, MPI_COMM_WORLD);
  }
}

}  // namespace stiction

#else

namespace stiction {

bool is_one_of_ranks() { return false; }
Ranks::Ranks() = default;
Ranks::~Ranks() = default;
Ranks::Agreement Ranks::agree_on(std::uint64_t) { return {}; }
bool Ranks::run(const StudyWork&) { return false; }
void Ranks::serve(const Study&) const {}

}  // namespace stiction

#endif
