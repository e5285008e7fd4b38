// Names that the writer and the reader of recordings share.
#pragma once

#include <string_view>

namespace stiction::recording_format {

inline constexpr const char* kFormat = "stiction recording";
inline constexpr int kVersion = 1;

/// /status: list of texts, of which the last counts; attributes cannot change while steps are being
/// appended. A recording whose last status is kRunning is being written or was never closed.
inline constexpr const char* kRunning = "running";
inline constexpr int kMaxStatusSize = 32;

/// /commit [F, 3]: one row per flush, written when all rows that it counts are in the file: steps,
/// rows of /contacts, and the size of the file at that moment.
inline constexpr int kCommitColumns = 3;

/// /events/complete: row i counts the rows of /events that row i of /commit stands for. It is not a
/// column of /commit since recordings and readers without events are to be read and to read on.
inline constexpr const char* kEventsComplete = "events/complete";

/// /phases/complete: likewise, rows of /phases, /phases/contacts and /phases/states.
inline constexpr const char* kPhasesComplete = "phases/complete";
inline constexpr int kPhaseCounts = 3;

/// /commands/{step,time,text}: what somebody did to the run, only where that was possible: a JSON
/// object each, and the step after which it acted.
inline constexpr int kMaxCommandSize = 511;

/// Attributes of the group /settings, all of them numbers; `friction` beside them is a text.
inline constexpr std::string_view kSettings[] = {"tolerance",
                                                 "every",
                                                 "projection",
                                                 "jacobians",
                                                 "nonlinear",
                                                 "gyroscopic",
                                                 "events.collisions",
                                                 "events.transitions",
                                                 "events.contact_tolerance",
                                                 "events.contact_growth",
                                                 "events.min_step",
                                                 "events.time_tolerance",
                                                 "events.restitution_threshold",
                                                 "error_control.tolerance",
                                                 "error_control.min_step",
                                                 "spook.relaxation",
                                                 "spook.compliance",
                                                 "spook.geometric_stiffness",
                                                 "spook.stiffness_return",
                                                 "spook.position_iteration"};

}  // namespace stiction::recording_format
