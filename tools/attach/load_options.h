// What loading a library into a process is asked for, and what it gave.
#ifndef UTLZ_TOOLS_ATTACH_LOAD_OPTIONS_H_
#define UTLZ_TOOLS_ATTACH_LOAD_OPTIONS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "collector/unique_fd.h"
#include "tools/attach/target/process_facts.h"

namespace utlz::attach {

struct LoadOptions {
  // How long to look for a thread that may be lent. The target runs on meanwhile.
  std::chrono::milliseconds search_time{3000};
  // How long a thread may stand still before dlopen is called; then everything is undone.
  std::chrono::microseconds stop_limit{20'000};
  // How long a Python may take to answer the request to load the library itself, before a thread is
  // looked for. 0: it is not asked.
  std::chrono::milliseconds python_patience{250};
  // Handed to the library (AttachConfig::parameters): at most kMaxAttachParameterBytes - 1 bytes,
  // without NUL.
  std::string parameters;
  // Called about once a second while dlopen has not returned, with how long that is: it cannot be
  // abandoned any more. By the thread that called LoadIntoProcess().
  std::function<void(std::chrono::milliseconds)> on_waiting;
  // Asked between attempts, by the same thread: whether to look no further.
  std::function<bool()> is_cancelled;
};

struct LoadResult {
  ProcessFacts facts;      // before the attach
  bool by_python = false;  // its Python loaded the library; no thread was lent or stopped
  pid_t thread_id = 0;     // the thread that was lent
  // Our end of the SOCK_SEQPACKET pair whose other end the library has.
  UniqueFd socket;
  // How long the thread stood still for us before dlopen began, and altogether.
  std::chrono::microseconds stopped_before_call{0};
  std::chrono::microseconds stopped{0};
  int attempts = 0;  // threads stopped, the successful one included
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_LOAD_OPTIONS_H_
