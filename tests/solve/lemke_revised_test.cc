// The revised method makes the pivots of the dictionary, from an inverse instead of a tableau.
#include "stiction/solve/lemke_revised.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stiction/base/random.h"

namespace stiction {
namespace {

constexpr PivotTolerances<double> kTolerances = {
    .pivot = 1e-11, .tie = 1e-13, .lexicographic = 1e-11};

struct Problem {
  int size;
  std::vector<double> matrix, q, cover;
  LemkeData<double> data() const { return {size, matrix.data(), size, q.data(), cover.data()}; }
};

Problem random_lcp(std::uint64_t seed, bool is_degenerate) {
  Random random(seed);
  const int n = random.integer(2, 25);
  Problem p{n, std::vector<double>(n * n), std::vector<double>(n), std::vector<double>(n, 1.0)};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      p.matrix[i * n + j] = (is_degenerate ? random.integer(-1, 1) : random.normal()) / n;
    p.matrix[i * n + i] += 2;
    p.q[i] = is_degenerate ? random.integer(-1, 1) : random.normal();
  }
  p.q[0] = -1;
  return p;
}

TEST(LemkeRevised, TakesThePathOfTheDictionary) {
  LemkeDictionary<double> dictionary;
  LemkeRevised<double> revised;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_lcp(seed, seed % 2 == 1);
    dictionary.reset(problem.data());
    revised.reset(problem.data());
    int leaving = dictionary.first_leaving(), entering = dictionary.z0();
    ASSERT_EQ(revised.first_leaving(), leaving);
    for (int pivot = 0; pivot < 1000 && leaving >= 0; ++pivot) {
      dictionary.exchange(leaving, entering);
      revised.exchange(leaving, entering);
      if (leaving == dictionary.z0()) break;
      if (pivot % 7 == 3) {
        ASSERT_TRUE(dictionary.refresh() && revised.refresh());
      }
      entering = dictionary.complement(leaving);
      leaving = dictionary.blocking(entering, kTolerances);
      ASSERT_EQ(revised.blocking(entering, kTolerances), leaving);
    }
    EXPECT_EQ(leaving, dictionary.z0());
    for (int variable = 0; variable <= dictionary.z0(); ++variable)
      EXPECT_EQ(dictionary.is_basic(variable), revised.is_basic(variable));
  }
}

TEST(LemkeRevised, RefusesASingularBasis) {
  const Problem problem{2, {1, 1, 1, 1}, {-1, -2}, {1, 1}};
  LemkeRevised<double> revised;
  revised.reset(problem.data());
  revised.exchange(1, revised.z0());
  revised.exchange(0, 2);  // rows (1, 1), (1, 1) of z_0 and z₀
  EXPECT_FALSE(revised.refresh());
}

}  // namespace
}  // namespace stiction
