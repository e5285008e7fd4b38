// What the sources of hdf5_file share: handles that close themselves, a silenced error stack, and
// the state of an open file. Includes HDF5, so no other header may include this one.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "stiction/base/hdf5_driver.h"
#include "stiction/base/hdf5_file.h"

namespace stiction {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "HDF5 1.10 or newer is needed");

/// An identifier of HDF5 and the function that releases it.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  herr_t close() {
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? closer_(id) : 0;
  }
  /// Gives the identifier away unclosed.
  hid_t release() { return std::exchange(id_, -1); }
  bool is_valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

/// Switches HDF5's error printing off for its lifetime; the application may have its own.
class Hdf5Silence {
 public:
  Hdf5Silence();
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;
  ~Hdf5Silence();

 private:
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
};

struct Hdf5File::Impl {
  std::string path;  // as shown in messages
  DiskState disk;
  Hdf5Handle file;  // closed before `disk` goes
  bool was_left_open = false;
  std::int64_t bytes_lost = 0;

  /// Throws IoError: cannot `action` 'object' in 'file': reason.
  [[noreturn]] void fail(std::string_view action, const std::string& object) const;
  /// Throws if the call failed or if the disk refused a write, which HDF5 is not told.
  void check(bool is_good, std::string_view action, const std::string& object) const {
    if (!is_good || disk.error_number != 0) fail(action, object);
  }
  Hdf5Handle checked(Hdf5Handle handle, std::string_view action, const std::string& object) const {
    check(handle.is_valid(), action, object);
    return handle;
  }
  bool has(const std::string& object) const;
  /// Throws "'file' has no 'object'" where there is none.
  Hdf5Handle open_dataset(const std::string& object) const;
  Hdf5Handle open_object(const std::string& object) const;
  Hdf5Handle open_attribute(const std::string& object, const std::string& name) const;
};

/// The type of T in memory.
template <class T>
hid_t hdf5_type();
/// The type of T in the file: little-endian everywhere, so that files are equal on all machines.
template <class T>
hid_t hdf5_file_type();

// clang-format off
template <> hid_t hdf5_type<double>();
template <> hid_t hdf5_type<int>();
template <> hid_t hdf5_type<std::int64_t>();
template <> hid_t hdf5_type<std::uint64_t>();
template <> hid_t hdf5_file_type<double>();
template <> hid_t hdf5_file_type<int>();
template <> hid_t hdf5_file_type<std::int64_t>();
template <> hid_t hdf5_file_type<std::uint64_t>();
// clang-format on

/// A fixed-length UTF-8 text of `size` bytes, the closing zero among them.
Hdf5Handle make_text_type(std::size_t size);
/// The texts that lie one after the other in `bytes`, each filled up with zeros to `size`.
std::vector<std::string> split_texts(std::string_view bytes, std::size_t size);
/// The reverse of split_texts.
std::string pad_texts(std::span<const std::string> texts, std::size_t size);
/// Size of the longest text with its closing zero.
std::size_t max_text_size(std::span<const std::string> texts);

/// Whether stored values of this type fit T without loss.
template <class T>
bool is_readable_as(hid_t stored_type);

}  // namespace stiction
