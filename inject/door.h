// Where tools reach an agent that waits for them (proto/attach_control.h). One visitor at a time;
// others hear that it is busy.
//
// Agent's thread only, but for CloseInChild().
#ifndef UTLZ_INJECT_DOOR_H_
#define UTLZ_INJECT_DOOR_H_

#include <cstddef>
#include <cstdint>

#include "inject/own_descriptor.h"
#include "proto/attach_control.h"
#include "proto/ring_abi.h"

namespace utlz::inject {

// A tool that wants the process traced.
struct Visit {
  // The connection last: its end tells the tool that nothing of the visit is left.
  void Close();

  OwnDescriptor connection;
  OwnDescriptor collector;
  OwnDescriptor named_cupti;  // by the user: to load before any other
  OwnDescriptor cupti;        // to load where there is none
};

class Door {
 public:
  // `first` is the connection that the loader made, if there was one; `listen` also makes a
  // listener.
  void Open(OwnDescriptor first, bool listen);

  // Waits for a visit, however long. False where none can come any more: the program has closed
  // every way in.
  bool Await(Visit* visit);

  // Waits for less than a second while a visitor is served. False if that one has hung up.
  bool Attend(const Visit& visit, uint64_t wait_ns);

  // After fork: the ways in are the parent's.
  void CloseInChild();

 private:
  static constexpr size_t kConnections = 4;

  // Answers whoever came. True with `visit` filled, where one may be taken and one wants to be.
  bool Serve(Visit* visit);
  bool ReadConnections(Visit* visit);
  void ReadDoor();
  void AcceptConnection();
  void Add(OwnDescriptor connection);

  OwnDescriptor inner_;
  OwnDescriptor outer_;
  OwnDescriptor listener_;
  OwnDescriptor connections_[kConnections];  // silent so far
  size_t next_ = 0;                          // the oldest of them, once all are in use
};

struct AnswerReason {
  AgentReason reason = AgentReason::kNone;
  uint32_t detail = 0;
  NamedCupti named_cupti = NamedCupti::kNone;
};

void SendAnswer(const Visit& visit, ControlState state, const AnswerReason& reason);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_DOOR_H_
