// The exceptions of the library. Text from outside (scenes, options) is not reported this way but
// collected in Diagnostics; a solver that misses its tolerance is a result, not an exception.
#pragma once

#include <stdexcept>
#include <string>

namespace stiction {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller passed a bad argument; the message names it, its value and the allowed range.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written; the message names it and says why.
class IoError : public Error {
 public:
  using Error::Error;
};

}  // namespace stiction
