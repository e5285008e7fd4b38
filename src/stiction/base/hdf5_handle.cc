#include "stiction/base/hdf5_handle.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

/// The innermost complaint of the library, which is the most specific one.
std::string innermost_error() {
  std::string text;
  const auto keep = [](unsigned /*n*/, const H5E_error2_t* error, void* data) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(data) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace

Hdf5Silence::Hdf5Silence() {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Silence::~Hdf5Silence() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

void Hdf5File::Impl::fail(std::string_view action, const std::string& object) const {
  const bool is_disk = disk.error_number != 0;
  const std::string reason = is_disk ? system_reason(disk.error_number) : innermost_error();
  if (object.empty() || is_disk)
    throw IoError(fmt::format("cannot {} '{}': {}", action, path, reason));
  throw IoError(fmt::format("cannot {} '{}' in '{}': {}", action, object, path, reason));
}

bool Hdf5File::Impl::has(const std::string& object) const {
  if (object == "/") return true;
  // H5Lexists wants every step of the path to exist, so that each is asked for in turn.
  for (std::size_t end = object.find('/', 1);; end = object.find('/', end + 1)) {
    if (H5Lexists(file.id(), object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) break;
  }
  return H5Oexists_by_name(file.id(), object.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Handle Hdf5File::Impl::open_object(const std::string& object) const {
  if (!has(object)) throw IoError(fmt::format("'{}' has no '{}'", path, object));
  return checked({H5Oopen(file.id(), object.c_str(), H5P_DEFAULT), H5Oclose}, "read", object);
}

Hdf5Handle Hdf5File::Impl::open_dataset(const std::string& object) const {
  if (!has(object)) throw IoError(fmt::format("'{}' has no dataset '{}'", path, object));
  return checked({H5Dopen2(file.id(), object.c_str(), H5P_DEFAULT), H5Dclose}, "read", object);
}

Hdf5Handle Hdf5File::Impl::open_attribute(const std::string& object,
                                          const std::string& name) const {
  const Hdf5Handle owner = open_object(object);
  if (H5Aexists(owner.id(), name.c_str()) <= 0)
    throw IoError(fmt::format("'{}' has no attribute '{}' of '{}'", path, name, object));
  return checked({H5Aopen(owner.id(), name.c_str(), H5P_DEFAULT), H5Aclose}, "read attribute",
                 name);
}

// clang-format off
template <> hid_t hdf5_type<double>() { return H5T_NATIVE_DOUBLE; }
template <> hid_t hdf5_type<int>() { return H5T_NATIVE_INT; }
template <> hid_t hdf5_type<std::int64_t>() { return H5T_NATIVE_INT64; }
template <> hid_t hdf5_type<std::uint64_t>() { return H5T_NATIVE_UINT64; }
template <> hid_t hdf5_file_type<double>() { return H5T_IEEE_F64LE; }
template <> hid_t hdf5_file_type<int>() { return H5T_STD_I32LE; }
template <> hid_t hdf5_file_type<std::int64_t>() { return H5T_STD_I64LE; }
template <> hid_t hdf5_file_type<std::uint64_t>() { return H5T_STD_U64LE; }
// clang-format on

template <class T>
bool is_readable_as(hid_t stored_type) {
  if (H5Tget_class(stored_type) != H5Tget_class(hdf5_type<T>())) return false;
  const std::size_t size = H5Tget_size(stored_type);
  if (size == 0 || size > sizeof(T)) return false;
  if (H5Tget_class(stored_type) != H5T_INTEGER) return true;
  return H5Tget_sign(stored_type) == H5Tget_sign(hdf5_type<T>());
}
template bool is_readable_as<double>(hid_t);
template bool is_readable_as<int>(hid_t);
template bool is_readable_as<std::int64_t>(hid_t);
template bool is_readable_as<std::uint64_t>(hid_t);

Hdf5Handle make_text_type(std::size_t size) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  const bool is_good = H5Tset_size(type.id(), size) >= 0 &&
                       H5Tset_strpad(type.id(), H5T_STR_NULLTERM) >= 0 &&
                       H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0;
  return is_good ? std::move(type) : Hdf5Handle();
}

std::vector<std::string> split_texts(std::string_view bytes, std::size_t size) {
  std::vector<std::string> texts;
  for (std::size_t start = 0; start + size <= bytes.size(); start += size) {
    const std::string_view padded = bytes.substr(start, size);
    texts.emplace_back(padded.substr(0, padded.find('\0')));
  }
  return texts;
}

std::string pad_texts(std::span<const std::string> texts, std::size_t size) {
  std::string bytes(texts.size() * size, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy_n(texts[i].begin(), std::min(texts[i].size(), size), bytes.begin() + i * size);
  return bytes;
}

std::size_t max_text_size(std::span<const std::string> texts) {
  std::size_t size = 1;
  for (const std::string& text : texts) size = std::max(size, text.size() + 1);
  return size;
}

}  // namespace stiction
