#include "stiction/model/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stiction/base/check.h"
#include "stiction/base/error.h"

namespace stiction {

/// Turns the nodes below the outputs, operands before results, into instructions. A register is
/// free again after the last instruction that reads it.
class Tape::Compiler {
 public:
  Compiler(Tape& tape, ExpressionPool& pool, std::span<const Expression> inputs)
      : tape_(tape), pool_(pool) {
    for (const Expression& input : inputs) {
      if (!input.is_symbol()) throw InputError("input of a tape is a formula, must be a symbol");
      inputs_.push_back(input.node_in(pool));
    }
  }

  void compile(const std::vector<NodeId>& roots) {
    nodes_ = pool_.collect_reachable(roots);
    group_operations();
    registers_.assign(static_cast<std::size_t>(pool_.num_nodes()), 0);
    find_last_uses(roots);
    place(Operation::kConstant,
          [this](NodeId id) { tape_.constants_.push_back(pool_.node(id).value); });
    place(Operation::kSymbol, [this](NodeId id) { tape_.loads_.push_back(input_index(id)); });
    for (std::size_t i = 0; i < nodes_.size(); ++i) emit(static_cast<int>(i));
    for (const NodeId root : roots) tape_.output_registers_.push_back(register_of(root));
  }

 private:
  static constexpr int kKeep = -1;  // read by an output, or no result of an instruction

  std::uint32_t& register_of(NodeId id) { return registers_[static_cast<std::size_t>(id)]; }

  std::uint32_t input_index(NodeId id) const {
    const auto found = std::find(inputs_.begin(), inputs_.end(), id);
    if (found == inputs_.end())
      throw InputError(
          fmt::format("symbol '{}' is not among the inputs of a tape", pool_.symbol_name(id)));
    return static_cast<std::uint32_t>(found - inputs_.begin());
  }

  static bool is_result(Operation operation) {
    return operation != Operation::kConstant && operation != Operation::kSymbol;
  }

  /// Reorders the nodes, operands still before results, such that equal operations follow one
  /// another: a run of them costs one jump that the processor guesses wrong instead of many. Only
  /// within windows, because moving a node far ahead of its use would occupy a register all the
  /// way.
  void group_operations() {
    constexpr std::size_t kWindow = 128;
    std::vector<bool> is_done(static_cast<std::size_t>(pool_.num_nodes()), false);
    for (std::size_t begin = 0; begin < nodes_.size(); begin += kWindow) {
      const std::size_t size = std::min(kWindow, nodes_.size() - begin);
      group_window(std::span(nodes_).subspan(begin, size), is_done);
    }
  }

  void group_window(std::span<NodeId> window, std::vector<bool>& is_done) {
    std::vector<NodeId> waiting(window.begin(), window.end()), later;
    auto place = window.begin();
    while (!waiting.empty()) {
      const Operation next = most_frequent_ready(waiting, is_done);
      later.clear();
      for (const NodeId id : waiting) {
        if (pool_.node(id).operation == next && is_ready(id, is_done)) {
          is_done[static_cast<std::size_t>(id)] = true;
          *place++ = id;
        } else {
          later.push_back(id);
        }
      }
      waiting.swap(later);
    }
  }

  Operation most_frequent_ready(std::span<const NodeId> window,
                                const std::vector<bool>& is_done) const {
    std::array<int, kNumOperations> counts{};
    for (const NodeId id : window)
      if (is_ready(id, is_done)) ++counts[static_cast<std::size_t>(pool_.node(id).operation)];
    return static_cast<Operation>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }

  bool is_ready(NodeId id, const std::vector<bool>& is_done) const {
    const auto& operands = pool_.node(id).operands;
    return std::all_of(operands.begin(), operands.end(), [&](NodeId operand) {
      return operand == NodeId::kNone || is_done[static_cast<std::size_t>(operand)];
    });
  }

  void find_last_uses(const std::vector<NodeId>& roots) {
    last_use_.assign(static_cast<std::size_t>(pool_.num_nodes()), kKeep);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const NodeId operand : pool_.node(nodes_[i]).operands)
        if (operand != NodeId::kNone && is_result(pool_.node(operand).operation))
          last_use_[static_cast<std::size_t>(operand)] = static_cast<int>(i);
    for (const NodeId root : roots) last_use_[static_cast<std::size_t>(root)] = kKeep;
  }

  template <class Record>
  void place(Operation kind, const Record& record) {
    for (const NodeId id : nodes_) {
      if (pool_.node(id).operation != kind) continue;
      register_of(id) = static_cast<std::uint32_t>(tape_.num_registers_++);
      record(id);
    }
  }

  void emit(int index) {
    const NodeId id = nodes_[static_cast<std::size_t>(index)];
    const ExpressionNode& node = pool_.node(id);
    if (!is_result(node.operation)) return;
    Instruction instruction{0, 0, 0, 0};
    std::uint32_t* const fields[] = {&instruction.a, &instruction.b, &instruction.c};
    for (int k = 0; k < 3; ++k)
      if (node.operands[k] != NodeId::kNone) *fields[k] = register_of(node.operands[k]);
    for (const NodeId operand : node.operands) release(operand, index);
    instruction.result = register_of(id) = acquire();
    tape_.instructions_.push_back(instruction);
    if (tape_.runs_.empty() || tape_.runs_.back().operation != node.operation)
      tape_.runs_.push_back({node.operation, 0});
    ++tape_.runs_.back().num_instructions;
  }

  void release(NodeId operand, int index) {
    if (operand == NodeId::kNone || last_use_[static_cast<std::size_t>(operand)] != index) return;
    last_use_[static_cast<std::size_t>(operand)] = kKeep;  // x·x releases x once
    free_.push_back(register_of(operand));
  }

  std::uint32_t acquire() {
    if (free_.empty()) return static_cast<std::uint32_t>(tape_.num_registers_++);
    const std::uint32_t result = free_.back();
    free_.pop_back();
    return result;
  }

  Tape& tape_;
  ExpressionPool& pool_;
  std::vector<NodeId> inputs_, nodes_;
  std::vector<std::uint32_t> registers_;  // by node
  std::vector<int> last_use_;             // by node: index into nodes_, or kKeep
  std::vector<std::uint32_t> free_;
};

Tape::Tape(std::span<const Expression> outputs, std::span<const Expression> inputs)
    : num_inputs_(static_cast<int>(inputs.size())) {
  const auto is_variable = [](const Expression& output) { return !output.is_constant(); };
  const auto holder = std::find_if(outputs.begin(), outputs.end(), is_variable);
  if (holder == outputs.end()) {
    for (const Expression& output : outputs) constants_.push_back(output.constant_value());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      output_registers_.push_back(static_cast<std::uint32_t>(i));
    num_registers_ = num_outputs();
    return;
  }
  ExpressionPool& pool = *holder->pool();
  std::vector<NodeId> roots;
  for (const Expression& output : outputs) roots.push_back(output.node_in(pool));
  Compiler(*this, pool, inputs).compile(roots);
}

void Tape::evaluate(std::span<const double> inputs, double* outputs) const {
  const Block block{outputs, 1, num_outputs(), num_outputs()};
  evaluate(inputs, {&block, 1});
}

void Tape::evaluate(std::span<const double> inputs, std::span<const Block> blocks) const {
  ST_DEMAND(static_cast<int>(inputs.size()) == num_inputs_);
  if (is_constant()) return store(constants_.data(), blocks);
  if (num_registers_ <= kStackRegisters) {
    double registers[kStackRegisters];  // left as it is: filled as the tape runs
    execute_all(inputs, registers);
    store(registers, blocks);
  } else {
    std::vector<double> registers(static_cast<std::size_t>(num_registers_));
    execute_all(inputs, registers.data());
    store(registers.data(), blocks);
  }
}

template <Operation kOperation>
void Tape::execute(std::span<const Instruction> instructions, double* registers) {
  for (const Instruction& i : instructions)
    registers[i.result] =
        apply_operation(kOperation, registers[i.a], registers[i.b], registers[i.c]);
}

/// Calls execute for the operation of the run, which there is a constant.
template <std::size_t... kOperations>
void Tape::dispatch(const Run& run, const Instruction* first, double* registers,
                    std::index_sequence<kOperations...>) {
  using Execute = void (*)(std::span<const Instruction>, double*);
  static constexpr Execute kExecute[] = {&execute<static_cast<Operation>(kOperations)>...};
  kExecute[static_cast<std::size_t>(run.operation)](
      {first, static_cast<std::size_t>(run.num_instructions)}, registers);
}

void Tape::execute_all(std::span<const double> inputs, double* registers) const {
  double* next = std::copy(constants_.begin(), constants_.end(), registers);
  for (const std::uint32_t load : loads_) *next++ = inputs[load];
  const Instruction* first = instructions_.data();
  for (const Run& run : runs_) {
    dispatch(run, first, registers, std::make_index_sequence<kNumOperations>());
    first += run.num_instructions;
  }
}

void Tape::store(const double* registers, std::span<const Block> blocks) const {
  int capacity = 0;
  for (const Block& block : blocks) capacity += block.num_rows * block.num_columns;
  ST_DEMAND(capacity == num_outputs());
  const std::uint32_t* next = output_registers_.data();
  for (const Block& block : blocks)
    for (int row = 0; row < block.num_rows; ++row)
      for (int column = 0; column < block.num_columns; ++column)
        block.data[row * static_cast<std::ptrdiff_t>(block.stride) + column] = registers[*next++];
}

}  // namespace stiction
