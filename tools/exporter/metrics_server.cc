#include "tools/exporter/metrics_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "collector/quiet_thread.h"
#include "tools/exporter/connection.h"
#include "tools/exporter/exposition.h"

namespace utlz {
namespace {

using Clock = Connection::Clock;
using std::chrono::milliseconds;

constexpr char kPlain[] = "text/plain; charset=utf-8";
constexpr milliseconds kAcceptPause(100);

// The page of the newest snapshot in each format, made when it is asked for.
class PageCache {
 public:
  explicit PageCache(const SnapshotBoard* board) : board_(board) {}

  SharedText PageIn(PageFormat format) {
    SharedSnapshot latest = board_->Latest();
    if (latest != snapshot_) {
      snapshot_ = std::move(latest);
      pages_[0] = pages_[1] = nullptr;
    }
    SharedText& page = pages_[format == PageFormat::kText ? 0 : 1];
    if (page == nullptr) {
      page = std::make_shared<const std::string>(
          WritePage(snapshot_ == nullptr ? MetricsSnapshot() : *snapshot_, format));
    }
    return page;
  }

 private:
  const SnapshotBoard* board_;
  SharedSnapshot snapshot_;
  SharedText pages_[2];
};

HttpAnswer AnswerTo(const HttpRequest& request, PageCache* cache) {
  const bool is_head = request.method == RequestMethod::kHead;
  const auto plain = [is_head](const char* status, const char* text) {
    return MakeAnswer(status, kPlain, std::make_shared<const std::string>(text), is_head);
  };
  if (request.method == RequestMethod::kOther) {
    return plain("405 Method Not Allowed", "GET and HEAD are answered.\n");
  }
  if (request.path == "/metrics") {
    const PageFormat format = ChooseFormat(request.accept);
    return MakeAnswer("200 OK", ContentTypeOf(format), cache->PageIn(format), is_head);
  }
  if (request.path == "/health") return plain("200 OK", "ok\n");
  if (request.path == "/") return plain("200 OK", "utlz: the metrics are at /metrics\n");
  return plain("404 Not Found", "The metrics are at /metrics.\n");
}

class RunningServer : public MetricsServer {
 public:
  RunningServer(ListeningSocket socket, UniqueFd wake, const SnapshotBoard* board)
      : listener_(std::move(socket)), wake_(std::move(wake)), cache_(board) {
    thread_ = StartQuietThread("utlz-metrics", [this] { Run(); });
  }

  ~RunningServer() override {
    stop_ = true;
    eventfd_write(wake_.get(), 1);
    thread_.join();
  }

 private:
  void Run() {
    while (!stop_) Turn();
  }

  void Turn() {
    std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
    watched.push_back({CanAccept(Clock::now()) ? listener_.fd() : -1, POLLIN, 0});
    for (const Connection& one : connections_) {
      watched.push_back({one.fd(), static_cast<short>(one.writes() ? POLLOUT : POLLIN), 0});
    }
    if (poll(watched.data(), watched.size(), WaitMs(Clock::now())) < 0) return;
    const Clock::time_point now = Clock::now();
    auto connection = connections_.begin();
    for (size_t i = 2; i < watched.size(); ++i) {
      const bool goes_on = watched[i].revents == 0 || connection->Continue(answerer_);
      const bool stays = goes_on && now < connection->begun() + kPatience;
      connection = stays ? std::next(connection) : connections_.erase(connection);
    }
    if (watched[1].revents != 0) Accept(now);
  }

  // Connections are in the order in which they began.
  bool CanAccept(Clock::time_point now) const { return now >= AcceptTime(); }

  Clock::time_point AcceptTime() const {
    if (connections_.size() < kMostConnections) return accept_again_;
    return std::max(accept_again_, connections_.front().begun() + kFairShare);
  }

  int WaitMs(Clock::time_point now) const {
    std::optional<Clock::time_point> next;
    if (!connections_.empty()) next = connections_.front().begun() + kPatience;
    if (!CanAccept(now)) next = std::min(next.value_or(AcceptTime()), AcceptTime());
    if (!next.has_value()) return -1;
    const auto wait = std::chrono::ceil<milliseconds>(*next - now);
    return static_cast<int>(std::clamp<milliseconds::rep>(wait.count(), 0, kPatience.count()));
  }

  void Accept(Clock::time_point now) {
    while (CanAccept(now)) {
      UniqueFd socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) {
        // With no descriptor left, the queue would wake us again and again.
        if (errno != EAGAIN && errno != EINTR) accept_again_ = now + kAcceptPause;
        return;
      }
      if (connections_.size() >= kMostConnections) connections_.pop_front();
      connections_.emplace_back(std::move(socket), now);
    }
  }

  ListeningSocket listener_;
  UniqueFd wake_;
  PageCache cache_;
  const Connection::Answerer answerer_ = [this](const HttpRequest& request) {
    return AnswerTo(request, &cache_);
  };
  std::list<Connection> connections_;
  Clock::time_point accept_again_{};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(ListeningSocket socket,
                                                                    const SnapshotBoard* board) {
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return absl::ErrnoToStatus(errno, "cannot set the metrics server up");
  return std::unique_ptr<MetricsServer>(
      std::make_unique<RunningServer>(std::move(socket), std::move(wake), board));
}

}  // namespace utlz
