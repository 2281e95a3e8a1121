// Sends snapshots of a run to `utlz top`, over a Unix socket in the runtime folder. It reads
// nothing. The same user and root are served, a few at once; one that reads slowly misses snapshots
// and holds nobody up.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_SERVER_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/listener_pace.h"
#include "proto/live.pb.h"

namespace utlz {

// Not thread-safe; never waits.
class LiveServer {
 public:
  static constexpr size_t kMostReaders = 8;

  // Listens in `folder`, which only this user may write to. Sockets that collectors left there when
  // they were killed are removed.
  static absl::StatusOr<LiveServer> Listen(const std::string& folder);
  LiveServer(LiveServer&& other) noexcept;
  LiveServer& operator=(LiveServer&&) = delete;
  ~LiveServer();  // the socket's file goes with it

  const std::string& path() const { return path_; }

  // Takes in who waits, sends what is still to be sent. Returns whether anybody could take another
  // snapshot. Times are of CLOCK_MONOTONIC.
  bool Serve(uint64_t now_ns);
  // To all who have read what was sent before.
  void Send(const LiveSnapshot& snapshot);

 private:
  struct Reader {
    UniqueFd connection;
    std::string pending = {};  // at most one message
    bool gone = false;
  };

  LiveServer(UniqueFd listener, std::string path)
      : listener_(std::move(listener)), path_(std::move(path)) {}
  void TakeIn(uint64_t now_ns);
  static void SendPending(Reader* reader);

  UniqueFd listener_;
  std::string path_;
  ListenerPace pace_;
  std::vector<Reader> readers_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_SERVER_H_
