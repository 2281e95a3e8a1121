// Writes the frames of a made-up run as a profile, for tests of exports.
#ifndef UTLZ_TESTS_UNIT_EXPORT_RECORDED_PROFILE_H_
#define UTLZ_TESTS_UNIT_EXPORT_RECORDED_PROFILE_H_

#include <gtest/gtest.h>

#include <string>

#include "collector/profile/profile_writer.h"
#include "proto/profile.pb.h"
#include "tests/support/run_builder.h"

namespace utlz {

class RecordedProfile {
 public:
  explicit RecordedProfile(const std::string& path) : writer_(ProfileWriter::Open(path)) {
    EXPECT_TRUE(writer_.ok()) << writer_.status().ToString();
  }

  template <typename Message>
  void Send(uint32_t source, FrameType type, const Message& message) {
    SendBytes(source, type, message.SerializeAsString());
  }
  void SendBytes(uint32_t source, FrameType type, const std::string& payload) {
    EXPECT_TRUE(writer_->Append(source, static_cast<uint16_t>(type), payload).ok());
  }

  void StartRun() {
    RunStart start;
    start.set_time_ns(kRunStartNs);
    start.add_command("python");
    Send(0, FRAME_RUN_START, start);
  }

  // One device of ordinal 0, and context 1 on it.
  void StartProcess(uint32_t source = 1) {
    Process process;
    process.set_pid(1000 + source);
    process.set_executable("/usr/bin/python3");
    process.set_start_time_ns(kRunStartNs);
    Send(source, FRAME_PROCESS, process);
    Device device;
    device.set_uuid(RunBuilder::Uuid());
    device.set_name("Test GPU");
    device.set_multiprocessors(100);
    Send(source, FRAME_DEVICE, device);
    Context context;
    context.set_id(1);
    Send(source, FRAME_CONTEXT, context);
  }

  // Strings 1, 2, … and variants 0, 1, … of these names.
  void SendKernels(const std::vector<std::string>& names, uint32_t source = 1) {
    Strings strings;
    strings.set_first(1);
    Variants variants;
    variants.set_first(0);
    for (size_t i = 0; i < names.size(); ++i) {
      strings.add_values(names[i]);
      variants.add_name(static_cast<uint32_t>(i) + 1);
      for (auto* column :
           {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
            variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
        column->Add(8);
      }
    }
    Send(source, FRAME_STRINGS, strings);
    Send(source, FRAME_VARIANTS, variants);
  }

  void SendLaunches(const std::vector<Launch>& launches, uint32_t source = 1, uint32_t stream = 7,
                    uint32_t graph_launch = 0) {
    DecodedLaunches decoded;
    decoded.launches = launches;
    decoded.segments.push_back({.launches = static_cast<uint32_t>(launches.size()),
                                .stream = stream,
                                .context = 1,
                                .graph_correlation = graph_launch});
    Send(source, FRAME_LAUNCHES, EncodeLaunches(decoded));
  }

  void EndRun(uint64_t after_ns) {
    RunEnd end;
    end.set_time_ns(kRunStartNs + after_ns);
    end.set_exit_status(0);
    Send(0, FRAME_RUN_END, end);
    EXPECT_TRUE(writer_->Finish().ok());
  }

 private:
  absl::StatusOr<ProfileWriter> writer_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_EXPORT_RECORDED_PROFILE_H_
