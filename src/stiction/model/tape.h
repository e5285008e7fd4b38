// Formulas compiled for evaluation: one list of operations on registers that computes all outputs
// and every shared part once, ordered such that equal operations follow one another. Evaluation is
// const, keeps no state and is safe from any thread; it allocates only for formulas that need more
// than kStackRegisters registers at once.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stiction/model/expression.h"

namespace stiction {

class Tape {
 public:
  static constexpr int kStackRegisters = 1024;

  /// Where outputs go: a row-major block whose rows are `stride` numbers apart.
  struct Block {
    double* data = nullptr;
    int num_rows = 0;
    int num_columns = 0;
    int stride = 0;
  };

  /// No outputs.
  Tape() = default;
  /// Computes `outputs` from the values of the symbols `inputs`. Throws InputError if an output
  /// uses another symbol, or if `inputs` holds something else than symbols of the outputs' pool.
  Tape(std::span<const Expression> outputs, std::span<const Expression> inputs);

  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return static_cast<int>(output_registers_.size()); }
  int num_operations() const { return static_cast<int>(instructions_.size()); }
  int num_registers() const { return num_registers_; }
  /// True where no output depends on an input: evaluation only copies.
  bool is_constant() const { return instructions_.empty() && loads_.empty(); }

  /// outputs[0 … num_outputs) from inputs[0 … num_inputs).
  void evaluate(std::span<const double> inputs, double* outputs) const;
  /// The outputs in order fill the blocks one after the other, which together have their number.
  void evaluate(std::span<const double> inputs, std::span<const Block> blocks) const;

 private:
  struct Instruction {
    std::uint32_t result;
    std::uint32_t a, b, c;  // registers; those the operation does not read are 0
  };
  /// The next `num_instructions` instructions have the same operation.
  struct Run {
    Operation operation;
    int num_instructions;
  };
  class Compiler;

  template <Operation kOperation>
  static void execute(std::span<const Instruction> instructions, double* registers);
  template <std::size_t... kOperations>
  static void dispatch(const Run& run, const Instruction* first, double* registers,
                       std::index_sequence<kOperations...>);
  void execute_all(std::span<const double> inputs, double* registers) const;
  void store(const double* registers, std::span<const Block> blocks) const;

  // Registers: the constants, then the inputs in use, then results, whose registers are reused.
  std::vector<double> constants_;
  std::vector<std::uint32_t> loads_;  // which input goes to register constants_.size() + i
  std::vector<Instruction> instructions_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> output_registers_;
  int num_inputs_ = 0;
  int num_registers_ = 0;
};

}  // namespace stiction
