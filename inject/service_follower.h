// The agent of a service (kCollectorVariable): it begins inside cuInit as that of `utlz run` does.
// The connection over which it met the collector stays open. Where that ends, so does the
// attachment, as one of a tool would, and the agent's thread looks for the next collector at the
// same path.
//
// Open and Meet: on the program's thread, before the agent's exists. Follow: on the agent's thread.
#ifndef UTLZ_INJECT_SERVICE_FOLLOWER_H_
#define UTLZ_INJECT_SERVICE_FOLLOWER_H_

#include <cstddef>

#include "inject/attachment_server.h"
#include "inject/base/turns.h"
#include "inject/recording.h"

namespace utlz::agent {

class ServiceFollower {
 public:
  static constexpr size_t kMostSocketPathBytes = 108;  // with the zero byte at its end

  // All must outlive it.
  ServiceFollower(Turns& turns, Recording& recording, AttachmentServer& attachments)
      : turns_(turns), recording_(recording), attachments_(attachments) {}

  // False where a path is too long for a socket.
  bool Open(const char* path);
  // Meets the collector that is there now. Where none is met, no ring is left.
  bool Meet();
  // Serves the collector that was met, if one was, and every one that comes.
  void Follow();

 private:
  bool Find();

  Turns& turns_;
  Recording& recording_;
  AttachmentServer& attachments_;
  char path_[kMostSocketPathBytes] = "";
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_SERVICE_FOLLOWER_H_
