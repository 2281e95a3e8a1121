// One process that a session is attached to: its agent, loaded or activated, and inactive again
// afterwards.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_ATTACHED_PROCESS_H_
#define UTLZ_TOOLS_ATTACH_SESSION_ATTACHED_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/session/session.h"
#include "collector/unique_fd.h"
#include "proto/attach_control.h"
#include "tools/attach/library_file.h"

namespace utlz {

struct AttachMeans {
  const attach::LibraryFile& agent;
  // The libcupti that the user named, and its path; invalid and empty where none was.
  UniqueFd named_cupti;
  std::string named_cupti_path;
  // For processes that have no libcupti and find none; invalid where there is none here either.
  UniqueFd cupti;
  std::chrono::milliseconds stop_limit;
  // A sentence for the person who waits.
  std::function<void(const std::string& sentence)> say;
  // Whether that person wants no more of it.
  std::function<bool()> is_cancelled;
};

class AttachedProcess {
 public:
  // Blocks until the agent traces, or waits for the process to initialize CUDA. On an error the
  // process is as it was, but for an agent inactive in it where loading went well.
  static absl::StatusOr<AttachedProcess> Attach(pid_t pid, const AttachMeans& means,
                                                Session& session);

  pid_t pid() const { return pid_; }
  const std::string& name() const { return name_; }  // printable
  // "tracing", or what it waits for before it traces.
  const std::string& state() const { return state_; }
  // How the agent came in, for people: "agent activated", "agent loaded, one thread stopped for …".
  const std::string& way() const { return way_; }

  // Why an attachment gets no NVTX ranges of the process, and what would help; empty where it may
  // get them.
  std::string WhyNoRanges() const;

  // After the session has finished: whether the agent has answered that it is inactive, and closed
  // its connection, which it does once nothing of the attachment is left in the process. False also
  // if the process has ended.
  bool BecomesInactive(std::chrono::milliseconds patience);

 private:
  AttachedProcess(pid_t pid, std::string name) : pid_(pid), name_(std::move(name)) {}
  absl::Status Reach(const AttachMeans& means);
  absl::Status Load(const AttachMeans& means);
  absl::Status Activate(const AttachMeans& means);
  absl::Status BeginTracing(const AttachMeans& means, Session& session);
  absl::Status Refusal(const ControlAnswer& answer) const;
  void ReportNamedCupti(const ControlAnswer& answer, const AttachMeans& means) const;

  pid_t pid_;
  std::string name_;
  std::string way_;
  std::string state_ = "tracing";
  UniqueFd connection_;
  bool takes_libraries_ = true;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_ATTACHED_PROCESS_H_
