// Stacks of a process for a test: frames of modules and functions, with the strings that they name.
#ifndef UTLZ_TESTS_SUPPORT_MADE_UP_STACKS_H_
#define UTLZ_TESTS_SUPPORT_MADE_UP_STACKS_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/profile.pb.h"
#include "tests/support/run_builder.h"

namespace utlz {

class MadeUpStacks {
 public:
  // `first_string`: after those that the run has already.
  explicit MadeUpStacks(uint32_t first_string) {
    strings_.set_first(first_string);
    stacks_.set_first(1);
  }

  // The number of the stack with this frame inside `parent`; 0: outermost.
  uint32_t Push(uint32_t parent, StackFrameKind kind, const std::string& name,
                const std::string& file, uint32_t line, const std::string& module_class = "",
                StackFrameFlag flag = STACK_FRAME_PLAIN) {
    stacks_.add_parent(parent);
    stacks_.add_kind(kind);
    stacks_.add_name(NumberOf(name));
    stacks_.add_file(NumberOf(file));
    stacks_.add_line(line);
    stacks_.add_module_class(NumberOf(module_class));
    stacks_.add_flags(flag);
    return static_cast<uint32_t>(stacks_.parent_size());
  }
  uint32_t Module(uint32_t parent, const std::string& path, const std::string& module_class) {
    return Push(parent, STACK_FRAME_MODULE, path, "", 0, module_class);
  }
  uint32_t Function(uint32_t parent, const std::string& name, const std::string& file,
                    uint32_t line) {
    return Push(parent, STACK_FRAME_FUNCTION, name, file, line);
  }
  // An instruction of XLA, by the texts that XLA registers. `name`: of its operation, or what those
  // of several have in common.
  uint32_t Instruction(uint32_t parent, const std::string& name, const std::string& instruction,
                       const std::string& locations, const std::string& op_name) {
    const std::string title =
        "Thunk:#name=" + name + ",hlo_op=" + instruction + ",unique_hlo_op_id=506806141015#";
    return Push(parent, STACK_FRAME_XLA_INSTRUCTION, title, locations, 0, op_name);
  }
  uint32_t Pass(uint32_t parent, StackFrameKind kind, bool inferred = false) {
    return Push(parent, kind, "(pass)", "", 0, "",
                inferred ? STACK_FRAME_INFERRED : STACK_FRAME_PLAIN);
  }

  // After those of all frames so far.
  uint32_t next_string() const {
    return strings_.first() + static_cast<uint32_t>(strings_.values_size());
  }

  // All that were made so far, of a process of RunBuilder or RecordedProfile.
  template <typename Run>
  void SendTo(Run* run, uint32_t source = 1) const {
    run->Send(source, FRAME_STRINGS, strings_);
    run->Send(source, FRAME_STACKS, stacks_);
  }

 private:
  uint32_t NumberOf(const std::string& text) {
    const auto [known, is_new] = numbers_.try_emplace(text, next_string());
    if (is_new) strings_.add_values(text);
    return known->second;
  }

  Strings strings_;
  Stacks stacks_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_MADE_UP_STACKS_H_
