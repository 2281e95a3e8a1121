// Writes a profile whose one process has a name that is no UTF-8.
//
//     write_invalid_text FILE
#include "absl/status/statusor.h"
#include "collector/profile/profile_writer.h"
#include "proto/profile.pb.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  absl::StatusOr<utlz::ProfileWriter> writer = utlz::ProfileWriter::Open(argv[1]);
  if (!writer.ok()) return 1;
  utlz::Process process;
  process.set_pid(1);
  process.set_executable("/usr/bin/\xff");
  const bool written = writer->Append(1, utlz::FRAME_PROCESS, process.SerializeAsString()).ok();
  return written && writer->Finish().ok() ? 0 : 1;
}
