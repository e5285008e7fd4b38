// Exit status of the program, a contract with scripts.
#pragma once

namespace stiction {

enum ExitStatus : int {
  kDone = 0,            // and every step within tolerance
  kBadInput = 2,        // or a file that cannot be read or written; the message is on stderr
  kAboveTolerance = 3,  // finished or stopped with a step above tolerance
  kNotVerified = 4,     // a law is broken
  kInterrupted = 130,   // by SIGINT or SIGTERM, as shells expect
};

}  // namespace stiction
