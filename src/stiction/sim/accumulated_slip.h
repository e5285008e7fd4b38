// How far contacts have slipped since they were made (T38). Kept by the identity of the contact,
// for all schemes alike: it acts on nothing, and is for whoever wants to know (wear, presliding
// laws).
#pragma once

#include "stiction/contact/contact_model.h"
#include "stiction/scheme/scheme.h"

namespace stiction {

/// Gives the contacts of `result` what they have slipped by its end, and its memory the same.
/// `before` is what the last step left, in the order of the model's contacts, or empty. A contact
/// that is open at the end by more than `touching` [m] is lost, and so is one that took no part.
void accumulate_slip(const ContactModel& model, const std::vector<AccumulatedSlip>& before,
                     double touching, StepResult& result);

}  // namespace stiction
