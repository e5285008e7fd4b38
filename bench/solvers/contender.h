// What takes part in the comparison: one solver of one library with one set of options. A session
// holds a problem in the form that the library wants, so that only solving is timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/scene/problem_reader.h"

namespace stiction::bench {

/// One problem and tolerance, prepared for one contender.
class Session {
 public:
  virtual ~Session() = default;
  /// A cold start: everything but the problem is new. Not timed.
  virtual void reset() = 0;
  /// Timed. Returns the number of iterations.
  virtual int solve() = 0;
  /// The answer of the last solve, in the order of the step problem.
  virtual StepSolution answer() const = 0;
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string library() const = 0;
  virtual std::string name() const = 0;
  /// Whether this solver is made for problems of this kind and size.
  virtual bool takes(const ProblemFile& file) const = 0;
  /// `file` must outlive the session.
  virtual std::unique_ptr<Session> prepare(const ProblemFile& file, double tolerance) const = 0;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

inline constexpr const char* kOurLibrary = "stiction";
inline constexpr const char* kSiconos = "siconos";

/// Every solver of solver_names().
Contenders make_our_contenders();
/// Solvers of Siconos; none if this program was built without it.
Contenders make_siconos_contenders();

}  // namespace stiction::bench
