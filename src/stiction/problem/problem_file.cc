#include "stiction/problem/problem_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"

namespace stiction {
namespace {

constexpr int kVersion = 1;
const std::string kRoot = "step_problem";
const std::string kBilateral = kRoot + "/bilateral/";
const std::string kContacts = kRoot + "/contacts/";
const std::string kCoupling = kRoot + "/coupling/";

template <class T>
void write(Hdf5File& file, const std::string& object, const std::vector<T>& values) {
  file.write(object, std::span<const T>(values));
}

/// BlockRows as lists: entries of each row block, and block, width and numbers of each entry.
struct EntryLists {
  std::vector<int> num_entries, entry_block, entry_columns;
  std::vector<double> values;
};

EntryLists list_entries(const BlockRows& rows) {
  EntryLists lists;
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    lists.num_entries.push_back(rows.entry_start(i + 1) - rows.entry_start(i));
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
      lists.entry_block.push_back(rows.entry_block(e));
      lists.entry_columns.push_back(rows.entry_columns(e));
      const double* values = rows.entry_values(e);
      const auto count = static_cast<std::ptrdiff_t>(rows.num_rows(i)) * rows.entry_columns(e);
      lists.values.insert(lists.values.end(), values, values + count);
    }
  }
  return lists;
}

void write_entries(Hdf5File& file, const std::string& group, const BlockRows& rows) {
  const EntryLists lists = list_entries(rows);
  write(file, group + "num_entries", lists.num_entries);
  write(file, group + "entry_block", lists.entry_block);
  write(file, group + "entry_columns", lists.entry_columns);
  write(file, group + "values", lists.values);
}

void write_masses(Hdf5File& file, const StepProblem& problem) {
  std::vector<int> block_size;
  std::vector<double> mass;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const ConstRowMatrixMap block = problem.mass_block(b);
    block_size.push_back(problem.block_size(b));
    mass.insert(mass.end(), block.data(), block.data() + block.size());
  }
  write(file, kRoot + "/block_size", block_size);
  write(file, kRoot + "/mass", mass);
  write(file, kRoot + "/p", problem.p);
}

void write_bilateral(Hdf5File& file, const StepProblem& problem) {
  file.make_group(kRoot + "/bilateral");
  write_entries(file, kBilateral, problem.bilateral);
  write(file, kBilateral + "compliance", problem.compliance);
  write(file, kBilateral + "bias", problem.bias);
  write(file, kBilateral + "lower", problem.lower);
  write(file, kBilateral + "upper", problem.upper);
}

void write_contacts(Hdf5File& file, const StepProblem& problem) {
  std::vector<int> num_rows, section_kind, section_sides;
  for (int i = 0; i < problem.contacts.num_row_blocks(); ++i)
    num_rows.push_back(problem.contacts.num_rows(i));
  for (const FrictionSection& section : problem.section) {
    section_kind.push_back(static_cast<int>(section.kind));
    section_sides.push_back(section.num_sides);
  }
  file.make_group(kRoot + "/contacts");
  write(file, kContacts + "num_rows", num_rows);
  write_entries(file, kContacts, problem.contacts);
  write(file, kContacts + "compliance", problem.contact_compliance);
  write(file, kContacts + "bias", problem.contact_bias);
  write(file, kContacts + "mu", problem.mu);
  write(file, kContacts + "section_kind", section_kind);
  write(file, kContacts + "section_sides", section_sides);
  write(file, kContacts + "key", problem.key);
}

/// Only condensed problems have this part.
void write_coupling(Hdf5File& file, const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  if (coupling.is_empty()) return;
  std::vector<int> num_entries, column;
  std::vector<double> value;
  for (int i = 0; i < coupling.num_rows(); ++i) {
    num_entries.push_back(coupling.entry_start(i + 1) - coupling.entry_start(i));
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      column.push_back(coupling.column(e));
      value.push_back(coupling.value(e));
    }
  }
  file.make_group(kRoot + "/coupling");
  write(file, kCoupling + "num_entries", num_entries);
  write(file, kCoupling + "column", column);
  write(file, kCoupling + "value", value);
}

/// Reads the lists of a file and refuses those that do not fit together, before any of their
/// numbers serves as an index or a size.
class ProblemReader {
 public:
  explicit ProblemReader(const std::string& path) : file_(Hdf5File::open(path)) {}

  StepProblem read();

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("step problem '{}': {}", file_.path(), what));
  }
  template <class T>
  std::vector<T> read_list(const std::string& object) const {
    if (file_.shape(object).rank != 1) fail(fmt::format("'{}' is not a list", object));
    return file_.read<T>(object);
  }
  template <class T>
  std::vector<T> read_list(const std::string& object, std::size_t size) const {
    std::vector<T> values = read_list<T>(object);
    if (values.size() != size)
      fail(fmt::format("'{}' has {} entries instead of {}", object, values.size(), size));
    return values;
  }
  void read_masses(StepProblem& problem) const;
  EntryLists read_entries(const std::string& group, std::span<const int> num_rows) const;
  void read_bilateral(StepProblem& problem) const;
  void read_contacts(StepProblem& problem) const;
  void read_coupling(StepProblem& problem) const;
  FrictionSection make_section(int kind, int num_sides) const;

  Hdf5File file_;
};

void ProblemReader::read_masses(StepProblem& problem) const {
  const std::vector<int> block_size = read_list<int>(kRoot + "/block_size");
  const std::vector<double> mass = read_list<double>(kRoot + "/mass");
  std::size_t num_values = 0;
  for (const int size : block_size) {
    if (size <= 0) fail(fmt::format("a mass block has the size {}", size));
    num_values += static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    if (num_values > mass.size()) break;
  }
  if (num_values != mass.size() || mass.size() > std::numeric_limits<int>::max())
    fail(fmt::format("'{}/mass' does not fit the sizes of the mass blocks", kRoot));
  const double* next = mass.data();
  for (const int size : block_size) {
    RowMatrixMap block = problem.add_mass_block(size);
    std::copy_n(next, block.size(), block.data());
    next += block.size();
  }
  problem.p = read_list<double>(kRoot + "/p", static_cast<std::size_t>(problem.num_dofs()));
}

EntryLists ProblemReader::read_entries(const std::string& group,
                                       std::span<const int> num_rows) const {
  EntryLists lists;
  lists.num_entries = read_list<int>(group + "num_entries", num_rows.size());
  lists.entry_block = read_list<int>(group + "entry_block");
  lists.entry_columns = read_list<int>(group + "entry_columns", lists.entry_block.size());
  lists.values = read_list<double>(group + "values");
  std::size_t entry = 0, num_values = 0;
  for (std::size_t i = 0; i < num_rows.size(); ++i) {
    const int count = lists.num_entries[i];
    if (count < 0 || static_cast<std::size_t>(count) > lists.entry_block.size() - entry)
      fail(fmt::format("'{}num_entries' does not fit '{}entry_block'", group, group));
    const auto first = lists.entry_block.begin() + static_cast<std::ptrdiff_t>(entry);
    std::vector<int> blocks(first, first + count);
    std::sort(blocks.begin(), blocks.end());
    if (std::adjacent_find(blocks.begin(), blocks.end()) != blocks.end())
      fail(fmt::format("'{}entry_block' names a mass block twice in row block {}", group, i));
    for (const std::size_t end = entry + static_cast<std::size_t>(count); entry < end; ++entry) {
      if (lists.entry_columns[entry] < 0) fail(fmt::format("'{}entry_columns' is negative", group));
      num_values += static_cast<std::size_t>(num_rows[i]) *
                    static_cast<std::size_t>(lists.entry_columns[entry]);
      if (num_values > lists.values.size()) fail(fmt::format("'{}values' is too short", group));
    }
  }
  if (entry != lists.entry_block.size() || num_values != lists.values.size() ||
      num_values > std::numeric_limits<int>::max())
    fail(fmt::format("'{}values' and '{}entry_block' are too long", group, group));
  return lists;
}

/// Hands the entries of the lists to BlockRows, row block after row block.
class EntryFeed {
 public:
  explicit EntryFeed(const EntryLists& lists) : lists_(lists) {}

  void add_next(BlockRows& rows) {
    for (int i = 0; i < lists_.num_entries[row_block_]; ++i, ++entry_) {
      RowMatrixMap matrix =
          rows.add_entry(lists_.entry_block[entry_], lists_.entry_columns[entry_]);
      std::copy_n(lists_.values.data() + value_, matrix.size(), matrix.data());
      value_ += matrix.size();
    }
    ++row_block_;
  }

 private:
  const EntryLists& lists_;
  std::size_t row_block_ = 0, entry_ = 0;
  std::ptrdiff_t value_ = 0;
};

void ProblemReader::read_bilateral(StepProblem& problem) const {
  const std::vector<double> bias = read_list<double>(kBilateral + "bias");
  const std::size_t count = bias.size();
  const std::vector<double> compliance = read_list<double>(kBilateral + "compliance", count);
  const std::vector<double> lower = read_list<double>(kBilateral + "lower", count);
  const std::vector<double> upper = read_list<double>(kBilateral + "upper", count);
  const EntryLists lists = read_entries(kBilateral, std::vector<int>(count, 1));
  EntryFeed feed(lists);
  for (std::size_t i = 0; i < count; ++i) {
    problem.add_bilateral_row({compliance[i], bias[i], lower[i], upper[i]});
    feed.add_next(problem.bilateral);
  }
}

FrictionSection ProblemReader::make_section(int kind, int num_sides) const {
  const FrictionSection section{static_cast<FrictionSection::Kind>(kind), num_sides};
  const bool is_polygon = kind == static_cast<int>(FrictionSection::Kind::kPolygon);
  const bool is_known = kind >= 0 && kind <= static_cast<int>(FrictionSection::Kind::kBox);
  const bool fits =
      is_polygon ? num_sides >= 4 && num_sides <= 1024 && num_sides % 2 == 0 : num_sides == 0;
  if (!is_known || !fits)
    fail(fmt::format("there is no friction section of kind {} with {} sides", kind, num_sides));
  return section;
}

void ProblemReader::read_contacts(StepProblem& problem) const {
  const std::vector<int> num_rows = read_list<int>(kContacts + "num_rows");
  const std::size_t count = num_rows.size();
  for (const int rows : num_rows)
    if (rows < 1 || rows > 3) fail(fmt::format("a contact has {} rows", rows));
  const std::vector<double> mu = read_list<double>(kContacts + "mu", count);
  const std::vector<int> kind = read_list<int>(kContacts + "section_kind", count);
  const std::vector<int> sides = read_list<int>(kContacts + "section_sides", count);
  const std::vector<std::uint64_t> key = read_list<std::uint64_t>(kContacts + "key", count);
  const EntryLists lists = read_entries(kContacts, num_rows);
  EntryFeed feed(lists);
  for (std::size_t i = 0; i < count; ++i) {
    problem.add_contact({num_rows[i] - 1, mu[i], make_section(kind[i], sides[i]), key[i]});
    feed.add_next(problem.contacts);
  }
  const auto rows = static_cast<std::size_t>(problem.num_contact_rows());
  problem.contact_compliance = read_list<double>(kContacts + "compliance", rows);
  problem.contact_bias = read_list<double>(kContacts + "bias", rows);
}

void ProblemReader::read_coupling(StepProblem& problem) const {
  if (!file_.has(kRoot + "/coupling")) return;
  const auto num_rows = static_cast<std::size_t>(problem.num_rows());
  const std::vector<int> num_entries = read_list<int>(kCoupling + "num_entries", num_rows);
  std::size_t total = 0;
  for (const int n : num_entries) {
    if (n < 0) fail(fmt::format("a row of the coupling has {} entries", n));
    total += static_cast<std::size_t>(n);
  }
  const std::vector<int> column = read_list<int>(kCoupling + "column", total);
  const std::vector<double> value = read_list<double>(kCoupling + "value", total);
  std::size_t next = 0;
  for (const int n : num_entries) {
    problem.coupling.add_row();
    for (int k = 0; k < n; ++k, ++next) problem.coupling.add_entry(column[next], value[next]);
  }
}

StepProblem ProblemReader::read() {
  if (!file_.has(kRoot))
    throw InputError(fmt::format("'{}' is not a step problem of this program", file_.path()));
  const int version = file_.read_int_attribute(kRoot, "version");
  if (version != kVersion)
    fail(fmt::format("its version is {}, this program reads version {}", version, kVersion));
  StepProblem problem;
  problem.h = file_.read_double_attribute(kRoot, "h");
  read_masses(problem);
  read_bilateral(problem);
  read_contacts(problem);
  read_coupling(problem);
  if (const std::string fault = find_fault(problem); !fault.empty()) fail(fault);
  return problem;
}

}  // namespace

void write_problem(const std::string& path, const StepProblem& problem) {
  PendingFile pending(path);
  Hdf5File file = Hdf5File::create(pending.temporary_path(), path);
  file.make_group(kRoot);
  file.write_attribute(kRoot, "version", kVersion);
  file.write_attribute(kRoot, "h", problem.h);
  write_masses(file, problem);
  write_bilateral(file, problem);
  write_contacts(file, problem);
  write_coupling(file, problem);
  file.close();
  pending.commit();
}

StepProblem read_problem(const std::string& path) {
  try {
    return ProblemReader(path).read();
  } catch (const std::bad_alloc&) {
    throw IoError(fmt::format("cannot read '{}': it does not fit into memory", path));
  }
}

}  // namespace stiction
