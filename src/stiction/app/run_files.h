// What commands that simulate share: where their recording goes, and how they are interrupted.
#pragma once

#include <string>

#include "stiction/app/run_options.h"

namespace stiction {

/// The recording's file: as asked for, or the name of the scene, which is no path; empty if none is
/// wanted.
std::string recording_path(const RunOptions& options, std::string scene_name);

/// Outputs must not destroy each other nor what the run reads: throws InputError. Only a checkpoint
/// may be continued and replaced, since it is read at the start and written at the end.
void check_files_differ(const RunOptions& options, const std::string& recording);

/// SIGINT and SIGTERM no longer end the process but are remembered.
void listen_to_interrupts();
bool was_interrupted();

}  // namespace stiction
