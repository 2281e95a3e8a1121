#include "inject/record/communication_encoder.h"

#include <initializer_list>

#include "inject/base/columns.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool CommunicationEncoder::Create(StringTable* strings) {
  strings_ = strings;
  return MapColumns({&time_, &thread_, &function_, &bytes_, &communicator_, &ranks_},
                    kMaxCalls + 1);
}

void CommunicationEncoder::Add(const CommunicationCall& call) {
  if (calls_ == 0) base_ns_ = previous_ns_ = call.time_ns;
  time_.Varint(ZigZag(static_cast<int64_t>(call.time_ns - previous_ns_)));
  thread_.Varint(call.thread);
  // 0 is an end, so that names, of which the empty one is number 0, count from one.
  function_.Varint(
      call.function == 0 ? 0 : strings_->Intern(CommunicationFunctionName(call.function)) + 1);
  bytes_.Varint(call.details.has_bytes ? call.details.bytes + 1 : 0);
  communicator_.Varint(call.details.communicator);
  ranks_.Varint(call.details.ranks);
  previous_ns_ = call.time_ns;
  ++calls_;
}

void CommunicationEncoder::Finish(uint64_t lost, ByteBuffer* message) {
  namespace field = wire::CommunicationCallBatch;
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Buffer(field::kTimeDeltaNs, time_);
  out.Buffer(field::kThread, thread_);
  out.Buffer(field::kFunction, function_);
  out.Buffer(field::kBytes, bytes_);
  out.Buffer(field::kCommunicator, communicator_);
  out.Buffer(field::kRanks, ranks_);
  out.Uint(field::kLost, lost);
  for (ByteBuffer* column : {&time_, &thread_, &function_, &bytes_, &communicator_, &ranks_}) {
    column->Clear();
  }
  calls_ = 0;
}

}  // namespace utlz::agent
