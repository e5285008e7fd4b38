// Everything a program that simulates needs: describe a system, read a scene, simulate, record.
#pragma once

#include "stiction/model/generalized_system.h"   // IWYU pragma: export
#include "stiction/model/model.h"                // IWYU pragma: export
#include "stiction/model/system_builder.h"       // IWYU pragma: export
#include "stiction/record/recording_observer.h"  // IWYU pragma: export
#include "stiction/record/recording_reader.h"    // IWYU pragma: export
#include "stiction/scene/import_robot.h"         // IWYU pragma: export
#include "stiction/scene/scene.h"                // IWYU pragma: export
#include "stiction/sim/simulation.h"             // IWYU pragma: export
