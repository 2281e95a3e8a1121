// Serves one attachment after another, of tools or of a service's collectors: meets the collector,
// records for it until the connection ends, and is inactive in between, with nothing of CUPTI's
// switched on.
//
// Agent's thread only, but for CloseInChild().
#ifndef UTLZ_INJECT_ATTACHMENT_SERVER_H_
#define UTLZ_INJECT_ATTACHMENT_SERVER_H_

#include <cstdint>

#include "inject/base/turns.h"
#include "inject/control_socket.h"
#include "inject/process_end.h"
#include "inject/recording.h"

namespace utlz::agent {

class AttachmentServer {
 public:
  // All must outlive it.
  AttachmentServer(Turns& turns, Recording& recording, ProcessEnd& end)
      : turns_(turns), recording_(recording), end_(end) {}

  ControlSocket& control_socket() { return control_socket_; }
  // The present attachment.
  Attachment* attachment() { return &attachment_; }

  // From the first word to the last. False where the attachment did not begin.
  bool Serve();
  // Takes turns until the attachment is over, then ends it. `served` false: it did not begin, and
  // this ends it at once.
  void Accompany(bool served);
  // Closes the connection, which tells the tool that no more records come. At the process's end it
  // stays open, since the last records are still to come.
  void Close();
  void CloseInChild();

  // From now on the agent serves collectors of a service: its thread has a name that tools do not
  // look for, and its overhead budget is that of a run.
  void BelongToService() { is_of_service_ = true; }
  // From now on no collector has the records: AgentHello::alone_since_ns.
  void BeAlone();
  // The last attachment switched the agent off, and the next one would too.
  bool ended_off() const { return ended_off_; }

 private:
  bool MeetCollector();
  bool Begin();
  bool BeginTracing();
  bool Turn();
  void LeaveLaunches();
  void End();
  void SendFirstAnswer();
  void NameThread(const char* name) const;

  Turns& turns_;
  Recording& recording_;
  ProcessEnd& end_;
  ControlSocket control_socket_;
  Attachment attachment_;
  bool is_of_service_ = false;
  bool ended_off_ = false;
  uint64_t alone_since_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_ATTACHMENT_SERVER_H_
