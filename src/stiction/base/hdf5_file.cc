// The life of a file, its groups and its attributes; datasets are in hdf5_dataset.cc.
#include "stiction/base/hdf5_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_handle.h"

namespace stiction {
namespace {

[[noreturn]] void fail_open(const std::string& path, int error_number) {
  throw IoError(fmt::format("cannot open '{}': {}", path, system_reason(error_number)));
}

struct Superblock {
  bool has_writer = false;  // says that it is open for writing
  std::int64_t size = 0;    // [bytes] of the file
  std::int64_t end = 0;     // [bytes] that it should have
};

/// Looks at the file without HDF5, whose messages hide the system's reason. In a superblock of
/// version 3 byte 11 has the consistency flags, and bytes 28 to 35 the end of the file.
Superblock probe_superblock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_open(path, errno);
  struct stat status = {};
  std::array<unsigned char, 36> head = {};
  const bool is_folder = ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
  const ssize_t count = is_folder ? 0 : ::pread(fd, head.data(), head.size(), 0);
  const int error_number = is_folder ? EISDIR : count < 0 ? errno : 0;
  ::close(fd);
  if (error_number != 0) fail_open(path, error_number);
  constexpr int kVersionByte = 8, kOffsetSizeByte = 9, kFlagsByte = 11, kEndByte = 28;
  Superblock found{.size = static_cast<std::int64_t>(status.st_size)};
  if (count != static_cast<ssize_t>(head.size()) || head[kVersionByte] != 3) return found;
  found.has_writer = head[kFlagsByte] != 0;
  if (head[kOffsetSizeByte] != 8 || head[kEndByte + 7] >= 0x80) return found;
  for (int i = 7; i >= 0; --i) found.end = found.end * 256 + head[kEndByte + i];
  return found;
}

bool set_write_format(hid_t access) {
  // Version 1.10 brought checksums on all metadata and the append-only mode.
  return H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
         H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0;
}

/// Freed places are not used again, so that the driver decides on all of them.
Hdf5Handle make_creation() {
  Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_file_space_strategy(creation.id(), H5F_FSPACE_STRATEGY_NONE, false, 1);
  return creation;
}

Hdf5Handle make_read_access() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  // Locks fail on some network file systems; the writer's flag in the file protects us anyway.
  H5Pset_file_locking(access.id(), false, true);
#endif
  // A reader of a file that is being written tries again when a checksum fails. HDF5 doubles the
  // pause each time: these are 65 ms at most, its own default of 100 attempts would never end.
  H5Pset_metadata_read_attempts(access.id(), 16);
  return access;
}

}  // namespace

void skip_hdf5_cleanup_at_exit() { H5dont_atexit(); }

Hdf5File::Hdf5File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;

Hdf5File::~Hdf5File() {
  if (!impl_) return;
  const Hdf5Silence silence;
  impl_->file.close();
}

Hdf5File Hdf5File::create(const std::string& path, const std::string& shown_as) {
  const Hdf5Silence silence;
  auto impl = std::make_unique<Impl>();
  impl->path = shown_as;
  const Hdf5Handle access(make_file_access(impl->disk), H5Pclose);
  impl->check(access.is_valid() && set_write_format(access.id()), "create", "");
  const Hdf5Handle creation = make_creation();
  impl->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose};
  impl->check(impl->file.is_valid(), "create", "");
  return Hdf5File(std::move(impl));
}

Hdf5File Hdf5File::open(const std::string& path, CutFiles cut) {
  const Hdf5Silence silence;
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  const Superblock head = probe_superblock(path);
  impl->was_left_open = head.has_writer;
  if (H5Fis_hdf5(path.c_str()) <= 0) throw IoError(fmt::format("'{}' is not an HDF5 file", path));
  const bool takes_rest = cut == CutFiles::kTake && !impl->was_left_open && head.size < head.end;
  if (takes_rest) {
    impl->bytes_lost = head.end - head.size;
    impl->disk.bytes_once = head.end;
  }
  const Hdf5Handle access =
      takes_rest ? Hdf5Handle(make_file_access(impl->disk), H5Pclose) : make_read_access();
  const unsigned flags = H5F_ACC_RDONLY | (impl->was_left_open ? H5F_ACC_SWMR_READ : 0U);
  impl->file = {H5Fopen(path.c_str(), flags, access.id()), H5Fclose};
  impl->check(impl->file.is_valid(), "open", "");
  return Hdf5File(std::move(impl));
}

const std::string& Hdf5File::path() const { return impl_->path; }
bool Hdf5File::was_left_open() const { return impl_->was_left_open; }
std::int64_t Hdf5File::bytes_lost() const { return impl_->bytes_lost; }
std::int64_t Hdf5File::bytes_on_disk() const { return impl_->disk.bytes_on_disk; }
std::int64_t Hdf5File::num_divided_writes() const { return impl_->disk.num_divided; }

bool Hdf5File::has(const std::string& object) const {
  const Hdf5Silence silence;
  return impl_->has(object);
}

void Hdf5File::make_group(const std::string& object) {
  const Hdf5Silence silence;
  const Hdf5Handle group(
      H5Gcreate2(impl_->file.id(), object.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Gclose);
  impl_->check(group.is_valid(), "write", object);
}

void Hdf5File::start_append_only() {
  const Hdf5Silence silence;
  impl_->check(H5Fstart_swmr_write(impl_->file.id()) >= 0, "write", "");
  impl_->disk.num_divided = 0;
}

void Hdf5File::flush() {
  const Hdf5Silence silence;
  impl_->check(H5Fflush(impl_->file.id(), H5F_SCOPE_LOCAL) >= 0, "write", "");
}

void Hdf5File::close() {
  const Hdf5Silence silence;
  impl_->check(impl_->file.close() >= 0, "write", "");
}

namespace {

/// Writes one attribute of any type and extent; false if HDF5 refuses.
bool write_any(hid_t owner, const std::string& name, hid_t file_type, hid_t memory_type,
               const Hdf5Handle& space, const void* values) {
  const Hdf5Handle attribute(
      H5Acreate2(owner, name.c_str(), file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.is_valid() && H5Awrite(attribute.id(), memory_type, values) >= 0;
}

Hdf5Handle scalar_space() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

}  // namespace

void Hdf5File::write_attribute(const std::string& object, const std::string& name, double value) {
  const Hdf5Silence silence;
  const Hdf5Handle owner = impl_->open_object(object);
  impl_->check(write_any(owner.id(), name, hdf5_file_type<double>(), hdf5_type<double>(),
                         scalar_space(), &value),
               "write attribute", name);
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name, int value) {
  const Hdf5Silence silence;
  const Hdf5Handle owner = impl_->open_object(object);
  impl_->check(
      write_any(owner.id(), name, hdf5_file_type<int>(), hdf5_type<int>(), scalar_space(), &value),
      "write attribute", name);
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name,
                               std::string_view text) {
  const Hdf5Silence silence;
  const Hdf5Handle owner = impl_->open_object(object);
  const Hdf5Handle type = make_text_type(text.size() + 1);
  const std::string bytes(text);  // ends with a zero
  impl_->check(write_any(owner.id(), name, type.id(), type.id(), scalar_space(), bytes.c_str()),
               "write attribute", name);
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name,
                               std::span<const std::string> texts) {
  const Hdf5Silence silence;
  const Hdf5Handle owner = impl_->open_object(object);
  const std::size_t size = max_text_size(texts);
  const Hdf5Handle type = make_text_type(size);
  const hsize_t count = texts.size();
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const std::string bytes = pad_texts(texts, size);
  impl_->check(write_any(owner.id(), name, type.id(), type.id(), space, bytes.c_str()),
               "write attribute", name);
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const Hdf5Silence silence;
  const Hdf5Handle owner = impl_->open_object(object);
  return H5Aexists(owner.id(), name.c_str()) > 0;
}

namespace {

std::int64_t num_elements(hid_t attribute) {
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  return H5Sget_simple_extent_npoints(space.id());
}

template <class T>
bool try_read_scalar(hid_t attribute, T& value) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  return num_elements(attribute) == 1 && is_readable_as<T>(type.id()) &&
         H5Aread(attribute, hdf5_type<T>(), &value) >= 0;
}

[[noreturn]] void fail_kind(const std::string& path, const std::string& name, const char* kind) {
  throw IoError(fmt::format("attribute '{}' in '{}' is not {}", name, path, kind));
}

}  // namespace

double Hdf5File::read_double_attribute(const std::string& object, const std::string& name) const {
  const Hdf5Silence silence;
  const Hdf5Handle attribute = impl_->open_attribute(object, name);
  double value = 0;
  if (!try_read_scalar(attribute.id(), value)) fail_kind(path(), name, "a number");
  return value;
}

int Hdf5File::read_int_attribute(const std::string& object, const std::string& name) const {
  const Hdf5Silence silence;
  const Hdf5Handle attribute = impl_->open_attribute(object, name);
  int value = 0;
  if (!try_read_scalar(attribute.id(), value)) fail_kind(path(), name, "an integer");
  return value;
}

std::vector<std::string> Hdf5File::read_texts_attribute(const std::string& object,
                                                        const std::string& name) const {
  const Hdf5Silence silence;
  const Hdf5Handle attribute = impl_->open_attribute(object, name);
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const std::int64_t count = num_elements(attribute.id());
  if (count < 0 || H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0)
    fail_kind(path(), name, "a fixed-length text");
  if (count == 0) return {};
  std::string bytes(static_cast<std::size_t>(H5Aget_storage_size(attribute.id())), '\0');
  const std::size_t size = H5Tget_size(type.id());
  if (size == 0 || bytes.size() / size != static_cast<std::size_t>(count))
    fail_kind(path(), name, "complete");
  impl_->check(H5Aread(attribute.id(), type.id(), bytes.data()) >= 0, "read attribute", name);
  return split_texts(bytes, size);
}

std::string Hdf5File::read_text_attribute(const std::string& object,
                                          const std::string& name) const {
  const std::vector<std::string> texts = read_texts_attribute(object, name);
  if (texts.size() != 1) fail_kind(path(), name, "a single text");
  return texts.front();
}

}  // namespace stiction
