// A session of a collector whose agents are AgentProcess, for tests: what it wrote into its
// profile.
#ifndef UTLZ_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_
#define UTLZ_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/profile/profile_reader.h"
#include "collector/session/session.h"
#include "proto/profile.pb.h"
#include "tests/support/temporary_folder.h"

namespace utlz {

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.profile_path = folder_.File("run.utlz");
    options_.socket_path = folder_.File("agents");
    options_.command = {"python", "train.py"};
    options_.sampler_executable.clear();
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<Session>> session = Session::Start(options_);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }

  SessionResult Finish(const CommandOutcome& outcome = {.exit_status = 0}) {
    absl::StatusOr<SessionResult> result = session_->Finish(outcome);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : SessionResult();
  }

  // Every message of `type` in the profile, in order.
  template <typename Message>
  std::vector<Message> Recorded(uint16_t type) const {
    std::vector<Message> messages;
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(options_.profile_path);
    if (!reader.ok()) return messages;
    for (FrameView frame; reader->Next(&frame);) {
      if (frame.type != type) continue;
      EXPECT_TRUE(messages.emplace_back().ParseFromArray(frame.payload.data(),
                                                         static_cast<int>(frame.payload.size())));
    }
    return messages;
  }

  std::vector<std::string> Notices() const {
    std::vector<std::string> notices;
    for (const RunEnd& end : Recorded<RunEnd>(FRAME_RUN_END)) {
      notices.insert(notices.end(), end.notices().begin(), end.notices().end());
    }
    return notices;
  }

  TemporaryFolder folder_;
  SessionOptions options_;
  std::unique_ptr<Session> session_;
};

inline Process SomeProcess() {
  Process process;
  process.set_pid(4711);
  process.set_host_pid(1);  // a lie: only the collector knows it
  process.set_executable("/usr/bin/python3");
  return process;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SESSION_SESSION_FIXTURE_H_
