// Recordings as tables of text, for spreadsheets and plotting programs.
#pragma once

#include <string>

#include "stiction/record/recording_reader.h"

namespace stiction {

/// One line per recorded step: time, q, v; the header has their names. Numbers are the shortest
/// texts that read back as the same number. Names with commas or quotes are quoted (RFC 4180).
/// The file appears whole or not at all; throws IoError with the system's reason.
void write_csv(const Recording& recording, const std::string& path);

}  // namespace stiction
