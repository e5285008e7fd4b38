// A recording piece by piece is the recording.
#include "stiction/record/recording_stream.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "stiction/base/error.h"
#include "stiction/record/recording_observer.h"
#include "stiction/record/recording_writer.h"
#include "tests/base/temporary_folder.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

TEST(RecordingStream, HasAllRowsInSmallPieces) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  const Scene scene = testing::example_scene("woodpecker");
  Simulation simulation(scene.model, {.h = 1e-4});
  RecordingObserver recorder(path, simulation, scene.name, scene.text, 1);
  simulation.add_observer(recorder);
  for (int i = 0; i < 500; ++i) simulation.step();
  recorder.close(simulation, "complete");

  const Recording all = read_recording(path);
  RecordingStream stream(path, 10000);  // [bytes] a few rows
  EXPECT_EQ(stream.header().num_rows, 501);
  EXPECT_EQ(stream.header().settings.at("tolerance"), 1e-9);
  RecordedChunk chunk;
  std::int64_t rows = 0, contacts = 0, phases = 0;
  int chunks = 0;
  while (stream.next(chunk)) {
    ++chunks;
    EXPECT_EQ(chunk.first_row, rows);
    for (std::int64_t k = 0; k < chunk.num_rows(); ++k, ++rows) {
      EXPECT_EQ(chunk.step[k], all.step[rows]);
      EXPECT_EQ(chunk.time[k], all.time[rows]);
      EXPECT_EQ(chunk.q.row(k), all.q.row(rows));
      EXPECT_EQ(chunk.energy.row(k), all.energy.row(rows));
      EXPECT_EQ(chunk.contacts.row_start[k + 1] - chunk.contacts.row_start[k],
                all.contacts.row_start[rows + 1] - all.contacts.row_start[rows]);
      // One problem per step, none for the start; it holds the contacts of its row.
      const std::int64_t first = chunk.phases.row_start[k], end = chunk.phases.row_start[k + 1];
      EXPECT_EQ(end - first, rows > 0 ? 1 : 0);
      if (first == end) continue;
      EXPECT_EQ(chunk.phases.state[first], -1);
      EXPECT_EQ(chunk.phases.contact_start[first + 1] - chunk.phases.contact_start[first],
                chunk.contacts.row_start[k + 1] - chunk.contacts.row_start[k]);
    }
    for (std::int64_t c = 0; c < chunk.contacts.size(); ++c, ++contacts)
      EXPECT_EQ(chunk.contacts.impulse.row(c), all.contacts.impulse.row(contacts));
    phases += static_cast<std::int64_t>(chunk.phases.step.size());
  }
  EXPECT_GT(chunks, 10);
  EXPECT_EQ(rows, all.num_rows());
  EXPECT_EQ(contacts, all.contacts.size());
  EXPECT_EQ(phases, 500);
  EXPECT_TRUE(stream.leftovers().empty());
}

/// Rows as far as a flush that is entirely in what is left; nothing that was not written.
TEST(RecordingStream, ReadsWhatIsLeftOfAClosedFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5"), cut = folder.file("cut.h5");
  const Scene scene = testing::example_scene("woodpecker");
  Simulation simulation(scene.model, {.h = 1e-4});
  {
    RecordingWriter writer(path, make_recording_layout(simulation, scene.name, scene.text, 1));
    class Flushing final : public RecordingSink {
     public:
      explicit Flushing(RecordingWriter& to) : to_(to) {}
      void append(const StepRow& row) override {
        to_.append(row);
        if (row.step % 50 == 0) to_.flush();
      }
      void append_event(const EventRow& event) override { to_.append_event(event); }
      void close(std::string_view status) override { to_.close(status); }

     private:
      RecordingWriter& to_;
    };
    RecordingObserver recorder(std::make_unique<Flushing>(writer), simulation, 1);
    simulation.add_observer(recorder);
    for (int i = 0; i < 2000; ++i) simulation.step();
    recorder.close(simulation, "complete");
    simulation.remove_observer(recorder);
  }
  const Recording all = read_recording(path);
  const auto size = std::filesystem::file_size(path);
  std::int64_t last = 0;
  int num_read = 0;
  for (int percent = 2; percent < 100; percent += 7) {
    SCOPED_TRACE(percent);
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size * percent / 100);
    EXPECT_THROW((void)read_recording(cut), IoError);
    try {
      RecordingStream stream(cut);
      EXPECT_GT(stream.header().bytes_lost, 0);
      RecordedChunk chunk;
      std::int64_t rows = 0;
      while (stream.next(chunk))
        for (std::int64_t k = 0; k < chunk.num_rows(); ++k, ++rows) {
          EXPECT_EQ(chunk.step[k], all.step[rows]);
          EXPECT_EQ(chunk.q.row(k), all.q.row(rows));
          EXPECT_EQ(chunk.energy.row(k), all.energy.row(rows));
        }
      EXPECT_GE(rows, last);
      EXPECT_LT(rows, all.num_rows());
      last = rows;
      num_read += rows > 1 ? 1 : 0;
    } catch (const Error&) {
      EXPECT_EQ(last, 0) << "a shorter piece could be read";
    }
  }
  EXPECT_GE(num_read, 5);
  EXPECT_GT(last, 1000);
}

}  // namespace
}  // namespace stiction
