// Where tools reach an agent that waits for them (proto/attach_control.h). One tool at a time;
// others hear that it is busy. A library comes only from who may trace the process.
//
// Agent's thread only, but for CloseInChild().
#ifndef UTLZ_INJECT_CONTROL_SOCKET_H_
#define UTLZ_INJECT_CONTROL_SOCKET_H_

#include <cstddef>
#include <cstdint>

#include "inject/base/own_descriptor.h"
#include "inject/base/peer_user.h"
#include "proto/attach_control.h"
#include "proto/listener_pace.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

// A tool that wants the process traced.
struct Attachment {
  // Closes the connection last: the tool waits for its end, and nothing of the attachment is left.
  void Close();

  OwnDescriptor connection;
  OwnDescriptor collector;
  OwnDescriptor named_cupti;  // by the user: to load before any other
  OwnDescriptor cupti;        // to load where there is none
};

class ControlSocket {
 public:
  // `first` is the connection that the loader made, if there was one; `listen` also makes a
  // listener.
  void Open(OwnDescriptor first, bool listen);

  // Waits for an attachment, however long. False where none can come any more: the program has
  // closed every way in.
  bool WaitForAttachment(Attachment* attachment);

  // Waits for less than a second while a tool is served. False if that one has hung up.
  bool StaysConnected(const Attachment& attachment, uint64_t wait_ns);

  // After fork: the ways in are the parent's.
  void CloseInChild();

 private:
  static constexpr size_t kConnections = 4;

  struct Connection {
    OwnDescriptor socket;
    // Others come from the loader or through the socket pair: their tools may trace the process.
    bool over_listener = false;
  };
  struct Request {
    ControlRequest words{};
    int descriptors[kMaxControlDescriptors] = {-1, -1, -1};
  };
  enum class Arrival { kNothing, kRequest, kOtherRelease, kGone };

  // Reads one request without waiting. What comes along with anything else is closed.
  static Arrival Receive(int socket_file, Request* request);
  static void CloseFrom(size_t first, Request* request);
  // Answers each tool that has sent a request. True with `attachment` filled where one of them may
  // attach.
  bool Serve(Attachment* attachment);
  bool ReadConnections(Attachment* attachment);
  // True with `attachment` filled; else the connection got the reason.
  bool TakeRequest(const Connection& from, Request* request, Attachment* attachment) const;
  void ReadPair();
  void AcceptConnection();
  void Add(const Connection& connection);

  OwnDescriptor inner_;
  OwnDescriptor outer_;
  OwnDescriptor listener_;
  ListenerPace pace_;
  UserIds user_at_start_;
  Connection connections_[kConnections];  // silent so far
  size_t next_ = 0;                       // the oldest of them, once all are in use
};

struct AnswerReason {
  AgentReason reason = AgentReason::kNone;
  uint32_t detail = 0;
  NamedCupti named_cupti = NamedCupti::kNone;
};

void SendAnswer(const Attachment& attachment, ControlState state, const AnswerReason& reason);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_CONTROL_SOCKET_H_
