// What a contact does in a step; the numbers are those of recordings.
#pragma once

namespace stiction {

enum class ContactStatus : int { kOpen = 0, kStick = 1, kSlip = 2 };

}  // namespace stiction
