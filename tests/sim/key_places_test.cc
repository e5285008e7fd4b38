#include "stiction/sim/key_places.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

TEST(KeyPlaces, FindsTheFirstPlaceOfEveryKeyAndNoOthers) {
  // All but one end in the same bits, so that they want the same slot.
  const std::vector<std::uint64_t> keys{1024, 0, 2048, 7, 1024, 4096};
  KeyPlaces places;
  for (int times = 0; times < 2; ++times) {
    places.list(keys);
    EXPECT_EQ(places.find(1024), 0);
    EXPECT_EQ(places.find(0), 1);
    EXPECT_EQ(places.find(2048), 2);
    EXPECT_EQ(places.find(7), 3);
    EXPECT_EQ(places.find(4096), 5);
    EXPECT_EQ(places.find(8192), -1);
    EXPECT_EQ(places.find(8), -1);
  }
  const std::vector<std::uint64_t> none;
  places.list(none);
  EXPECT_EQ(places.find(7), -1);
}

TEST(KeyPlaces, AGuessChangesNothing) {
  const std::vector<std::uint64_t> keys{1024, 0, 2048, 7, 4096};
  KeyPlaces places;
  places.list(keys);
  for (int guess = 0; guess < 7; ++guess) {
    for (int place = 0; place < 5; ++place) EXPECT_EQ(places.find(keys[place], guess), place);
    EXPECT_EQ(places.find(8192, guess), -1);
  }
}

}  // namespace
}  // namespace stiction
