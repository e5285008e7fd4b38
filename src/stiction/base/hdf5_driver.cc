#include "stiction/base/hdf5_driver.h"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>

namespace stiction {
namespace {

/// The smallest page in use; larger ones are multiples of it.
constexpr haddr_t kPageSize = 4096;

struct DriverInfo {
  DiskState* disk;
};

/// HDF5 hands out pointers to its part, which therefore comes first.
struct DriverFile {
  H5FD_t base;
  int fd;
  haddr_t end_of_allocation;  // what the library has handed out
  haddr_t end_of_file;        // what the library believes to have written
  DiskState* disk;
};

DriverFile& as_driver(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file); }
const DriverFile& as_driver(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t /*max_address*/) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  const int truncate = (flags & H5F_ACC_TRUNC) != 0 ? O_TRUNC : 0;
  const int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  const int fd = ::open(name, mode | O_CLOEXEC | truncate);
  if (fd < 0) {
    info->disk->error_number = errno;
    return nullptr;
  }
  auto* file = new (std::nothrow) DriverFile{{}, fd, 0, 0, info->disk};
  if (file == nullptr) {
    ::close(fd);
    return nullptr;
  }
  const off_t size = ::lseek(fd, 0, SEEK_END);
  file->end_of_file =
      static_cast<haddr_t>(std::max<std::int64_t>({size, info->disk->bytes_once, 0}));
  return &file->base;
}

herr_t close_file(H5FD_t* base) {
  DriverFile* file = &as_driver(base);
  // Network file systems report a full disk no earlier than here.
  if (::close(file->fd) != 0 && file->disk->error_number == 0) file->disk->error_number = errno;
  delete file;
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* features) {
  // Without aggregation every piece comes to allocate() on its own.
  *features = H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

bool crosses_page(haddr_t address, hsize_t size) {
  return size > 0 && address / kPageSize != (address + size - 1) / kPageSize;
}

haddr_t allocate(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, hsize_t size) {
  DriverFile& file = as_driver(base);
  haddr_t address = file.end_of_allocation;
  if (type != H5FD_MEM_DRAW && crosses_page(address, size))
    address = (address / kPageSize + 1) * kPageSize;
  file.end_of_allocation = address + size;
  return address;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return as_driver(file).end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  as_driver(file).end_of_allocation = address;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return as_driver(file).end_of_file;
}

herr_t read_file(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address,
                 std::size_t size, void* buffer) {
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(as_driver(base).fd, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {  // allocated, never written: zero by HDF5's contract
      std::memset(bytes, 0, size);
      return 0;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return 0;
}

/// 0, or the errno of the write that failed.
int write_fully(int fd, const char* bytes, std::size_t size, off_t address) {
  while (size > 0) {
    const ssize_t count = ::pwrite(fd, bytes, size, address);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    bytes += count;
    address += count;
    size -= static_cast<std::size_t>(count);
  }
  return 0;
}

herr_t write_file(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address,
                  std::size_t size, const void* buffer) {
  DriverFile& file = as_driver(base);
  DiskState& disk = *file.disk;
  const haddr_t end = address + size;
  file.end_of_file = std::max(file.end_of_file, end);
  if (disk.error_number != 0) return 0;
  if (type != H5FD_MEM_DRAW && crosses_page(address, size)) ++disk.num_divided;
  disk.error_number =
      write_fully(file.fd, static_cast<const char*>(buffer), size, static_cast<off_t>(address));
  if (disk.error_number == 0)
    disk.bytes_on_disk = std::max(disk.bytes_on_disk, static_cast<std::int64_t>(end));
  return 0;
}

/// Called on flush and close, so that the file has the size that its superblock promises.
herr_t truncate_file(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
  DriverFile& file = as_driver(base);
  DiskState& disk = *file.disk;
  if (file.end_of_file == file.end_of_allocation || disk.error_number != 0) return 0;
  if (::ftruncate(file.fd, static_cast<off_t>(file.end_of_allocation)) != 0) {
    disk.error_number = errno;
    return 0;
  }
  file.end_of_file = file.end_of_allocation;
  disk.bytes_on_disk = static_cast<std::int64_t>(file.end_of_file);
  return 0;
}

/// HDF5 marks a file as being written only if its driver can lock. There is nobody to lock out: the
/// file has a temporary name until others may read it, and from then on HDF5 wants no lock.
herr_t lock_file(H5FD_t* /*file*/, hbool_t /*is_writing*/) { return 0; }
herr_t unlock_file(H5FD_t* /*file*/) { return 0; }

H5FD_class_t make_driver_class() {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // above 511: registered by nobody
#endif
  driver.name = "stiction";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.alloc = allocate;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = get_end_of_file;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  driver.lock = lock_file;
  driver.unlock = unlock_file;
  const H5FD_mem_t free_lists[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(free_lists), std::end(free_lists), driver.fl_map);
  return driver;
}

}  // namespace

std::int64_t make_file_access(DiskState& disk) {
  // Registered once and for good: HDF5 1.10 reads the class of a file's driver after it has
  // released the file's hold on it, so somebody else must hold it too.
  static const H5FD_class_t kDriverClass = make_driver_class();
  static const hid_t driver = H5FDregister(&kDriverClass);
  if (driver < 0) return driver;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&disk};
  const bool is_set = access >= 0 && H5Pset_driver(access, driver, &info) >= 0;
  if (is_set) return access;
  H5Pclose(access);
  return -1;
}

}  // namespace stiction
