// A target program under test: started, watched from outside, ended.
#ifndef UTLZ_TESTS_ATTACH_TARGET_PROCESS_H_
#define UTLZ_TESTS_ATTACH_TARGET_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collector/unique_fd.h"
#include "tests/attach/target_control.h"
#include "tools/attach/library_file.h"

namespace utlz::attach {

class TargetProcess {
 public:
  // Starts attach_target with this program, or another executable if `executable` is given.
  explicit TargetProcess(const std::string& program, const std::string& executable = "");
  // Starts any command, with the number of the control's descriptor as its last argument.
  explicit TargetProcess(std::vector<std::string> command);
  TargetProcess(const TargetProcess&) = delete;
  ~TargetProcess();

  // Waits until the program has reached its hazard; false if it ended instead.
  bool WaitUntilReady();
  // Waits until a condition holds; false if the program ended instead.
  bool WaitUntil(const std::function<bool()>& condition) const;
  // Wakes the program and waits until it has done something after that.
  bool WakeAndWaitForProgress() const;
  // Waits until the main thread sleeps in the kernel.
  bool WaitUntilBlocked() const;

  // The process that was started, and the one to attach to.
  pid_t started_pid() const { return pid_; }
  pid_t pid() const;
  TargetControl& control() const { return *control_; }
  // Sends a byte to the program's standard input.
  void Wake() const;

  // Asks the program to end, by every means that it may listen to, and returns what waitpid says.
  int Finish();
  std::string Output() const;

  // The state of the process, to be compared.
  std::string Maps() const;
  std::map<int, std::string> Descriptors() const;
  std::string StatusField(const std::string& name) const;

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd control_file_;
  UniqueFd output_file_;
  UniqueFd input_;
  TargetControl* control_ = nullptr;
};

// The library under load, read once.
const LibraryFile& ProbeLibrary();

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_ATTACH_TARGET_PROCESS_H_
