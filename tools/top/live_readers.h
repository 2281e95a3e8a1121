// Reads live snapshots from the collectors of this machine (collector/live). Those of this user and
// of root are trusted. Root also reads those of other users, but only about their own processes.
#ifndef UTLZ_TOOLS_TOP_LIVE_READERS_H_
#define UTLZ_TOOLS_TOP_LIVE_READERS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/live/live_message.h"
#include "collector/unique_fd.h"

namespace utlz::top {

// The folders that this user's `utlz top` looks in.
std::vector<std::string> LiveFolders();

// Not thread-safe; never waits.
class LiveReaders {
 public:
  // What a collector said last is shown for so long, if no more comes.
  static constexpr uint64_t kStaleNs = 65'000'000'000;

  explicit LiveReaders(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // The last that each said. Time of CLOCK_MONOTONIC.
  std::vector<LiveSnapshot> Read(uint64_t now_ns);
  // Collectors that were asked and have said nothing yet. Their first answer may take a second.
  std::vector<pid_t> Silent() const;

 private:
  struct Reader {
    UniqueFd connection;
    pid_t collector = 0;
    uid_t user = 0;
    LiveStream stream = {};
    std::optional<LiveSnapshot> last = {};
    uint64_t last_ns = 0;
  };

  void Connect();
  static bool Receive(uint64_t now_ns, Reader* reader);

  const std::vector<std::string> folders_;
  std::map<std::string, Reader> readers_;  // by path
};

// Without what the collector of `user` may not speak of: processes of others.
void RemoveProcessesOfOthers(uid_t user, LiveSnapshot* snapshot);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_LIVE_READERS_H_
