// Names that the writer and the reader of recordings share.
#pragma once

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

}  // namespace stiction::recording_format
