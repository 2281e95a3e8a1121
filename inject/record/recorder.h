// Turns CUPTI's activity records into frames in the ring. One at a time: Lock() around every call.
// CUPTI calls from its worker thread and from whichever thread flushes; never on a launch path.
#ifndef UTLZ_INJECT_RECORD_RECORDER_H_
#define UTLZ_INJECT_RECORD_RECORDER_H_

#include <pthread.h>

#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/base/timed_lock.h"
#include "inject/driver/cupti_api.h"
#include "inject/record/call_encoder.h"
#include "inject/record/communication_encoder.h"
#include "inject/record/context_tracker.h"
#include "inject/record/copy_encoder.h"
#include "inject/record/cupti_clock.h"
#include "inject/record/definition_sender.h"
#include "inject/record/launch_encoder.h"
#include "inject/record/launch_stacks.h"
#include "inject/record/marker_encoder.h"
#include "inject/record/operation_count.h"
#include "inject/record/recent_work.h"
#include "inject/record/record_walker.h"
#include "inject/record/string_table.h"
#include "inject/record/switch_times.h"
#include "inject/record/untimed_operations.h"
#include "inject/record/variant_table.h"

namespace utlz::agent {

struct RecorderCounts {
  uint64_t launches = 0;
  uint64_t graph_nodes = 0;  // among them
  uint64_t untimed = 0;
  uint64_t unknown = 0;
  uint64_t dropped_by_cupti = 0;
  uint64_t encode_ns = 0;
  uint64_t new_work = 0;  // that was reported, and may not have been traced so far
  uint64_t loads = 0;     // of kernels for their first launch
  OperationCount operations;
};

class Recorder {
 public:
  bool Create(RingWriter* ring, const CuptiApi* api, bool with_correlation);
  // For another collector, which knows nothing yet: as after Create, with memory given back. Locks.
  void Restart(bool with_correlation);

  void Lock() { pthread_mutex_lock(&mutex_); }
  // For the process's end: false if another thread kept the lock for all of `patience_ns`.
  bool LockWithin(uint64_t patience_ns) { return agent::LockWithin(&mutex_, patience_ns); }
  void Unlock() { pthread_mutex_unlock(&mutex_); }

  // All records of one completed buffer. They stay in the encoders until a batch is full or
  // Flush(): each batch learns its predictions anew, so long batches take fewer bytes a launch.
  void Consume(uint8_t* buffer, size_t valid_bytes);
  void Flush();
  // A frame of some other kind; `message` is scratch from Scratch().
  bool Send(uint16_t type, const ByteBuffer& message) { return ring_->Write(type, message); }
  ByteBuffer* Scratch();

  // Makes stacks of launches ready for the interpreter of this layout, unless they are. False where
  // there is no memory.
  bool CreateStacks(const PythonLayout& layout);
  LaunchStacks& stacks() { return stacks_; }
  // Names the stacks that launches brought and, with `sample_threads`, samples what launching
  // threads are in.
  void TakeStacks(bool sample_threads);
  // What the file of this identifier that was read last says of its launches.
  void SendCompiledCode(uint32_t file);
  const char* TextOf(uint32_t string) const { return strings_.Text(string); }

  SwitchTimes& switch_times() { return switch_times_; }
  CuptiClock& clock() { return clock_; }
  const RecorderCounts& counts() const { return counts_; }
  const RecentWork& recent() const { return recent_; }
  uint32_t variants() const { return variants_.size(); }
  ContextTracker& contexts() { return contexts_; }
  // Tracing was switched off, and on again.
  void GapBegan() { counts_.operations.GapBegan(); }
  void GapEnded() { counts_.operations.GapEnded(); }
  // A call of our own counts as an operation: it has a number like any other.
  void CountOwnCall(uint32_t number) { counts_.operations.Add(number); }
  void AddDropped(uint64_t records) { counts_.dropped_by_cupti += records; }
  RingWriter* ring() { return ring_; }

 private:
  void ConsumeRecord(const cupti::RecordHead* record);
  void ConsumeCall(const cupti::ApiRecord& call);
  void CountNewWork(uint64_t time_ns);
  bool CutBySwitch(const cupti::KernelRecord& record) const;
  uint32_t StackOf(const cupti::KernelRecord& record);
  void ConsumeKernel(const cupti::KernelRecord& record);
  void ConsumeMemcpy(const cupti::MemcpyRecord& record);
  void ConsumePeerCopy(const cupti::PeerCopyRecord& record);
  void ConsumeMemset(const cupti::MemsetRecord& record);
  void AddCopy(uint32_t correlation, const Copy& copy);
  // Copies in graphs do not show whether theirs was launched.
  void Count(uint32_t correlation, bool graph_node, bool with_times) {
    const bool begins = !graph_node || counts_.operations.AddNode(correlation);
    if (!graph_node) counts_.operations.Add(correlation);
    launches_.AddUntimedOperations(untimed_operations_.Note(begins, graph_node, with_times));
  }

  void FlushLaunches();
  void FlushThreadStacks();
  void FlushCommunication();
  bool SendStrings() { return definitions_.SendStrings(strings_); }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  RingWriter* ring_ = nullptr;
  const CuptiApi* api_ = nullptr;  // filled in later
  RecordWalker walker_;
  ContextTracker contexts_;
  SwitchTimes switch_times_;
  CuptiClock clock_;
  StringTable strings_;
  VariantTable variants_;
  DefinitionSender definitions_;
  LaunchEncoder launches_;
  LaunchStacks stacks_;
  CopyEncoder copies_;
  MarkerEncoder markers_;
  CallEncoder calls_;
  CommunicationEncoder communication_;
  UntimedOperations untimed_operations_;
  uint64_t communication_lost_ = 0;
  ByteBuffer scratch_;
  RecorderCounts counts_;
  RecentWork recent_;
};

// Holds a recorder's lock while it lives.
class RecorderLock {
 public:
  explicit RecorderLock(Recorder* recorder) : recorder_(recorder) { recorder_->Lock(); }
  ~RecorderLock() { recorder_->Unlock(); }
  RecorderLock(const RecorderLock&) = delete;
  RecorderLock& operator=(const RecorderLock&) = delete;

 private:
  Recorder* recorder_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_RECORDER_H_
