// What Inductor, the compiler of torch.compile, writes beside the launches in a Python file that it
// generates:
//
//   # Topologically Sorted Source Nodes: [x, norm], Original ATen: [aten.add, aten.mul]
//   stream0 = get_raw_stream(0)
//   triton_poi_fused_add_mul_0.run(arg0_1, buf0, 4096, stream=stream0)
//
// PyTorch 2.5 to 2.11 write "Topologically Sorted" or "Unsorted" before "Source Nodes", 2.1 to 2.4
// neither. The same comments stand before the kernels themselves, not indented: these are passed
// over. Nothing names lines or modules of the program.
//
// Reads bytes of any kind, and changes, allocates and calls nothing.
#ifndef UTLZ_INJECT_PYTHON_COMPILED_CODE_H_
#define UTLZ_INJECT_PYTHON_COMPILED_CODE_H_

#include <cstdint>
#include <string_view>

namespace utlz::agent {

struct CompiledLaunch {
  uint32_t line = 0;            // the first one, from 1
  uint32_t lines = 0;           // up to the one that launches, with sums of what it left there
  std::string_view operations;  // "aten.add, aten.mul", in the text; never empty
};

class CompiledCodeReader {
 public:
  static constexpr uint32_t kMostOperationsBytes = 1024;  // longer lists end before a comma

  // `text` outlives it.
  explicit CompiledCodeReader(std::string_view text) : rest_(text) {}

  // The next launch with operations; false at the end.
  bool Next(CompiledLaunch* launch);

 private:
  bool NextLine(std::string_view* line);
  uint32_t CountWorkspaceLines();

  std::string_view rest_;
  uint32_t line_ = 0;  // the number of the last one that was read
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_COMPILED_CODE_H_
