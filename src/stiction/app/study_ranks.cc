#include "stiction/app/study_ranks.h"

#ifdef STICTION_HAS_MPI

#include <mpi.h>

#include <chrono>
#include <cstdlib>
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
  if (is_first())
    for (int rank = 1; rank < size_; ++rank) send_run(kNoMore, rank);
  MPI_Finalize();
}

bool Ranks::run(const StudyWork& work) const {
  std::size_t next = 0;
  int num_busy = 0;
  const auto give_next = [&](int rank) {
    if (next == work.runs.size()) return;
    send_run(work.runs[next++], rank);
    ++num_busy;
  };
  for (int rank = 1; rank < size_; ++rank) give_next(rank);
  while (num_busy > 0) {
    if (work.should_stop()) next = work.runs.size();  // what is in progress comes to its end
    StudyRow row;
    int rank = 0;
    if (!try_receive_row(row, rank)) {
      wait_a_moment();
      continue;
    }
    work.deliver(row);
    --num_busy;
    give_next(rank);
  }
  return !work.should_stop();
}

void Ranks::serve(const Study& study) const {
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
    const std::string bytes = pack(execute_run(study, run));
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, kRow, MPI_COMM_WORLD);
  }
}

}  // namespace stiction

#else

namespace stiction {

bool is_one_of_ranks() { return false; }
Ranks::Ranks() = default;
Ranks::~Ranks() = default;
bool Ranks::run(const StudyWork&) const { return false; }
void Ranks::serve(const Study&) const {}

}  // namespace stiction

#endif
