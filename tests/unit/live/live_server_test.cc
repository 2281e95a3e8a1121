#include "collector/live/live_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/live/live_folder.h"
#include "collector/live/live_message.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

UniqueFd Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  UniqueFd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    connection.Reset();
  }
  return connection;
}

size_t ReadAll(int connection, LiveStream* stream) {
  size_t count = 0;
  char bytes[4096];
  for (ssize_t size; (size = recv(connection, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0;) {
    EXPECT_TRUE(
        stream->Push({bytes, static_cast<size_t>(size)}, [&](LiveSnapshot) { ++count; }).ok());
  }
  return count;
}

LiveSnapshot Large() {
  LiveSnapshot snapshot;
  for (int i = 0; i < kMaxLiveKernels; ++i) {
    snapshot.add_kernels()->set_name(std::string(kMaxLiveTextBytes, 'k'));
  }
  return snapshot;
}

class LiveServerTest : public ::testing::Test {
 protected:
  LiveServerTest() : server_(*LiveServer::Listen(folder_.File(""))) {}

  TemporaryFolder folder_;
  LiveServer server_;
  uint64_t now_ns_ = 1;
};

TEST_F(LiveServerTest, OnlyItsUserMayOpenItsSocket) {
  struct stat status = {};
  ASSERT_EQ(stat(server_.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::filesystem::path(server_.path()).filename(), LiveSocketName(getpid()));
}

TEST_F(LiveServerTest, NobodyAsksUntilSomebodyConnects) {
  EXPECT_FALSE(server_.Serve(now_ns_));
  const UniqueFd reader = Connect(server_.path());
  ASSERT_TRUE(reader.valid());
  EXPECT_TRUE(server_.Serve(now_ns_));
  server_.Send(LiveSnapshot());
  LiveStream stream;
  EXPECT_EQ(ReadAll(reader.get(), &stream), 1u);
}

TEST_F(LiveServerTest, WhoHangsUpOrTalksIsLetGo) {
  UniqueFd reader = Connect(server_.path());
  EXPECT_TRUE(server_.Serve(now_ns_));
  reader.Reset();
  EXPECT_FALSE(server_.Serve(now_ns_));
  reader = Connect(server_.path());
  EXPECT_TRUE(server_.Serve(now_ns_));
  ASSERT_EQ(send(reader.get(), "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_FALSE(server_.Serve(now_ns_));
}

TEST_F(LiveServerTest, OneThatReadsSlowlyMissesSnapshotsAndGetsWholeOnes) {
  const UniqueFd slow = Connect(server_.path());
  const UniqueFd quick = Connect(server_.path());
  LiveStream of_quick;
  size_t quick_count = 0;
  constexpr size_t kSent = 50;
  for (size_t i = 0; i < kSent; ++i) {
    server_.Serve(now_ns_);
    server_.Send(Large());
    quick_count += ReadAll(quick.get(), &of_quick);
  }
  EXPECT_EQ(quick_count, kSent);
  LiveStream of_slow;
  size_t slow_count = ReadAll(slow.get(), &of_slow);
  // What was begun comes to its end.
  for (int i = 0; i < 10; ++i) {
    server_.Serve(now_ns_);
    slow_count += ReadAll(slow.get(), &of_slow);
  }
  EXPECT_GT(slow_count, 0u);
  EXPECT_LT(slow_count, kSent);
}

TEST_F(LiveServerTest, ServesNoMoreThanAFew) {
  std::vector<UniqueFd> readers;
  for (size_t i = 0; i < LiveServer::kMostReaders + 2; ++i) {
    readers.push_back(Connect(server_.path()));
    server_.Serve(now_ns_);
  }
  server_.Send(LiveSnapshot());
  size_t served = 0;
  for (const UniqueFd& reader : readers) {
    LiveStream stream;
    served += ReadAll(reader.get(), &stream);
  }
  EXPECT_EQ(served, LiveServer::kMostReaders);
}

TEST(LiveServer, RemovesWhatKilledCollectorsLeftAndItsOwn) {
  TemporaryFolder folder;
  const std::string forsaken = folder.File(LiveSocketName(1 << 22).c_str());
  {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    forsaken.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
  }
  std::string path;
  {
    const absl::StatusOr<LiveServer> server = LiveServer::Listen(folder.File(""));
    ASSERT_TRUE(server.ok()) << server.status();
    path = server->path();
    EXPECT_FALSE(std::filesystem::exists(forsaken));
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(LiveServer, AFolderThatOthersMayWriteToIsRefused) {
  TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.File("").c_str(), 0777), 0);
  EXPECT_FALSE(LiveServer::Listen(folder.File("")).ok());
}

}  // namespace
}  // namespace utlz
