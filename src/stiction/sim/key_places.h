// Where each key of a list is: a table with open addressing. Keys of contacts are mixed already
// (ContactModel), so that their last bits say where to look. Sorting them instead took ten times as
// long.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stiction {

class KeyPlaces {
 public:
  /// The list has to stay as it is while it is searched.
  void list(const std::vector<std::uint64_t>& keys) {
    keys_ = &keys;
    const std::size_t size = std::bit_ceil(2 * keys.size() + 1);  // some slot is always free
    mask_ = size - 1;
    slots_.assign(size, kFree);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      int& slot = slots_[slot_of(keys[i])];
      if (slot == kFree) slot = static_cast<int>(i);
    }
  }
  /// Its first place in the list; −1 if it is not there.
  int find(std::uint64_t key) const { return slots_[slot_of(key)]; }
  /// The same of a list without repetitions, faster if it is at `guess`, any number from 0 on.
  int find(std::uint64_t key, int guess) const {
    const bool is_there = static_cast<std::size_t>(guess) < keys_->size() && (*keys_)[guess] == key;
    return is_there ? guess : find(key);
  }

 private:
  static constexpr int kFree = -1;
  /// Of this key, or the free one where it would be.
  std::size_t slot_of(std::uint64_t key) const {
    std::size_t slot = key & mask_;
    while (slots_[slot] != kFree && (*keys_)[slots_[slot]] != key) slot = (slot + 1) & mask_;
    return slot;
  }

  const std::vector<std::uint64_t>* keys_ = nullptr;
  std::size_t mask_ = 0;
  std::vector<int> slots_;
};

}  // namespace stiction
