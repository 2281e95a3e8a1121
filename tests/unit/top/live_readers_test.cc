#include "tools/top/live_readers.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/live/live_folder.h"
#include "collector/live/live_server.h"
#include "tests/support/temporary_folder.h"

namespace utlz::top {
namespace {

LiveSnapshot OfProcess(uint64_t pid) {
  LiveSnapshot snapshot;
  snapshot.add_processes()->set_pid(pid);
  snapshot.add_devices()->set_uuid("GPU-0");
  return snapshot;
}

TEST(LiveReaders, ReadsWhatACollectorSaysLast) {
  TemporaryFolder folder;
  LiveReaders readers({folder.path()});
  EXPECT_TRUE(readers.Read(1).empty());
  auto server = LiveServer::Listen(folder.path());
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(readers.Silent().empty()) << "nobody was asked";
  EXPECT_TRUE(readers.Read(2).empty());
  EXPECT_EQ(readers.Silent(), std::vector<pid_t>{getpid()});
  ASSERT_TRUE(server->Serve(1));
  server->Send(OfProcess(5));
  server->Send(OfProcess(6));
  const auto said = readers.Read(3);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(readers.Silent().empty());
  EXPECT_EQ(said[0].processes(0).pid(), 6u);
  EXPECT_EQ(said[0].collector_pid(), static_cast<uint32_t>(getpid()));
  EXPECT_TRUE(said[0].accepted());
  EXPECT_EQ(readers.Read(3 + LiveReaders::kStaleNs - 1).size(), 1u);
  EXPECT_TRUE(readers.Read(3 + LiveReaders::kStaleNs).empty());
}

TEST(LiveReaders, OneThatEndsIsForgotten) {
  TemporaryFolder folder;
  LiveReaders readers({folder.path()});
  {
    auto server = LiveServer::Listen(folder.path());
    ASSERT_TRUE(server.ok());
    readers.Read(1);
    server->Serve(1);
    server->Send(OfProcess(5));
    EXPECT_EQ(readers.Read(2).size(), 1u);
  }
  EXPECT_TRUE(readers.Read(3).empty());
}

TEST(LiveReaders, OneThatSendsRubbishIsLetGo) {
  TemporaryFolder folder;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  folder.File(LiveSocketName(getpid())).copy(address.sun_path, sizeof(address.sun_path) - 1);
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  LiveReaders readers({folder.path()});
  readers.Read(1);
  const UniqueFd peer(accept(listener.get(), nullptr, nullptr));
  ASSERT_EQ(send(peer.get(), "rubbish, rubbish", 16, MSG_NOSIGNAL), 16);
  EXPECT_TRUE(readers.Read(2).empty());
  char end = 0;
  EXPECT_EQ(recv(peer.get(), &end, 1, 0), 0);
}

TEST(LiveReaders, SpeaksForItsUsersProcessesAlone) {
  LiveSnapshot snapshot = OfProcess(static_cast<uint64_t>(getpid()));
  RemoveProcessesOfOthers(geteuid(), &snapshot);
  EXPECT_EQ(snapshot.processes_size(), 1);
  EXPECT_EQ(snapshot.devices_size(), 1);
  RemoveProcessesOfOthers(geteuid() + 1, &snapshot);
  EXPECT_EQ(snapshot.processes_size(), 0);
  EXPECT_EQ(snapshot.devices_size(), 0);
}

}  // namespace
}  // namespace utlz::top
