#include "stiction/record/csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "stiction/base/error.h"
#include "tests/base/file_size_limit.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/recording_example.h"

namespace stiction {
namespace {

Recording two_rows() {
  Recording recording;
  recording.q_names = {"y", "phi"};
  recording.v_names = {"v.y", "a, \"b\""};
  recording.time = {0, 1e-4};
  recording.q.resize(2, 2);
  recording.v.resize(2, 2);
  recording.q << 0.1, 1.0 / 3, -2, 5e-324;
  recording.v << 1e22, -0.0, 1e-7, std::numeric_limits<double>::infinity();
  return recording;
}

TEST(Csv, HasHeaderAndShortestNumbers) {
  const TemporaryFolder folder;
  write_csv(two_rows(), folder.file("r.csv"));
  EXPECT_EQ(read_bytes(folder.file("r.csv")),
            "time,y,phi,v.y,\"a, \"\"b\"\"\"\n"
            "0,0.1,0.3333333333333333,1e+22,-0\n"
            "0.0001,-2,5e-324,1e-07,inf\n");
}

TEST(Csv, NumbersReadBackBitExact) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder.file("r.h5"), example_layout());
  append_examples(writer, 0, 1000);
  writer.close("complete");
  write_csv(read_recording(folder.file("r.h5")), folder.file("r.csv"));
  std::ifstream stream(folder.file("r.csv"));
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "time,y,phi_M,phi_S,v.y,v.phi_M,v.phi_S");
  std::int64_t step = 0;
  for (; std::getline(stream, line); ++step) {
    const ExampleRow example(step);
    std::vector<double> expected = {example.row().time};
    expected.insert(expected.end(), example.row().q.begin(), example.row().q.end());
    expected.insert(expected.end(), example.row().v.begin(), example.row().v.end());
    std::vector<double> values;
    for (const char* next = line.c_str(); *next != '\0';) {
      char* end = nullptr;
      values.push_back(std::strtod(next, &end));
      next = *end == ',' ? end + 1 : end;
    }
    ASSERT_EQ(values, expected);
  }
  EXPECT_EQ(step, 1000);
}

TEST(Csv, WriteErrorsNameFileAndReason) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<IoError>([&] { write_csv(two_rows(), folder.file("no/r.csv")); }),
            "cannot create '" + folder.file("no/r.csv") + "': No such file or directory");
  EXPECT_EQ(message_of<IoError>([] { write_csv(two_rows(), "/dev/full"); }),
            "cannot write '/dev/full': No space left on device");
}

TEST(Csv, NothingHalfWrittenStaysBehind) {
  const TemporaryFolder folder;
  const auto write = [&] {
    return message_of<IoError>([&] { write_csv(two_rows(), folder.file("r.csv")); }).empty() ? 1
                                                                                             : 0;
  };
  EXPECT_EQ(run_with_file_size_limit(20, write), 0);
  EXPECT_TRUE(folder.file_names().empty());
}

}  // namespace
}  // namespace stiction
