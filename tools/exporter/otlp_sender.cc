#include "tools/exporter/otlp_sender.h"

#include <cstdlib>
#include <deque>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/quiet_thread.h"
#include "tools/exporter/otlp_request.h"
#include "tools/http/http_client.h"

namespace utlz {
namespace {

constexpr char kFromEnvironment[] = "env";
constexpr std::chrono::milliseconds kLastPatience(1000);
constexpr char kPath[] = "/v1/metrics";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// What the protocol says is worth another try.
bool MayTryAgain(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

class RunningSender : public OtlpSender {
 public:
  RunningSender(HttpUrl url, const SnapshotBoard* board, const OtlpPace& pace,
                std::function<void(const std::string&)> say)
      : url_(std::move(url)), board_(board), pace_(pace), say_(std::move(say)) {
    thread_ = StartQuietThread("utlz-otlp", [this] { Run(); });
  }

  ~RunningSender() override {
    stop_.Give();
    thread_.join();
    if (dropped_ > 0) {
      say_(absl::StrCat("--otlp: ", dropped_, " of ", made_, " requests were not taken by ",
                        url_.Text()));
    }
  }

 private:
  // The last snapshot, which the run leaves at its end, goes with the last turn.
  void Run() {
    while (!ends_) {
      ends_ = stop_.WaitFor(pace_.period);
      if (const SharedSnapshot latest = board_->Latest(); latest != sent_) {
        sent_ = latest;
        Queue(*latest);
      }
      SendWaiting();
    }
    dropped_ += waiting_.size();
  }

  void Queue(const MetricsSnapshot& snapshot) {
    ++made_;
    if (waiting_.size() >= pace_.most_waiting) {
      waiting_.pop_front();
      ++dropped_;
    }
    waiting_.push_back(WriteOtlpRequest(snapshot, {start_ns_, RealtimeNs()}, dropped_));
  }

  void SendWaiting() {
    while (!waiting_.empty()) {
      const absl::StatusOr<HttpReply> reply = Ask(
          url_,
          {.method = "POST", .content_type = "application/x-protobuf", .body = waiting_.front()},
          {.time = ends_ ? kLastPatience : pace_.patience}, ends_ ? never_ : stop_);
      if (absl::IsCancelled(reply.status())) return;
      if (!reply.ok()) return Report(std::string(reply.status().message()));
      const bool taken = reply->status >= 200 && reply->status < 300;
      if (!taken) Report(absl::StrCat(url_.Text(), " answers ", reply->status));
      if (!taken && MayTryAgain(reply->status)) return;
      if (!taken) ++dropped_;
      waiting_.pop_front();
      if (taken) failed_ = false;
    }
  }

  // Once until it works again.
  void Report(const std::string& trouble) {
    if (!failed_) say_(absl::StrCat("--otlp: ", trouble, "; it is tried again"));
    failed_ = true;
  }

  const HttpUrl url_;
  const SnapshotBoard* board_;
  const OtlpPace pace_;
  const std::function<void(const std::string&)> say_;
  const uint64_t start_ns_ = RealtimeNs();
  StopSignal stop_;
  StopSignal never_;
  bool ends_ = false;  // the run is over: nobody shall wait for long
  SharedSnapshot sent_;
  std::deque<std::string> waiting_;
  uint64_t made_ = 0;
  uint64_t dropped_ = 0;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::string> OtlpSender::EndpointOf(const std::string& place) {
  if (place != kFromEnvironment) return place;
  if (std::string whole = Variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"); !whole.empty()) {
    return whole;
  }
  std::string base = Variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (base.empty()) {
    return absl::NotFoundError(
        "--otlp env: OTEL_EXPORTER_OTLP_ENDPOINT names no collector; give its address");
  }
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  return base + kPath;
}

absl::StatusOr<std::unique_ptr<OtlpSender>> OtlpSender::Start(
    const std::string& endpoint, const SnapshotBoard* board, const OtlpPace& pace,
    std::function<void(const std::string& sentence)> say) {
  absl::StatusOr<HttpUrl> url = ParseHttpUrl(endpoint);
  if (!url.ok()) return url.status();
  if (url->path == "/") url->path = kPath;
  say(absl::StrCat("metrics are sent to ", url->Text(),
                   url->is_loopback ? "" : ", which is another machine or address"));
  return std::unique_ptr<OtlpSender>(
      std::make_unique<RunningSender>(*std::move(url), board, pace, std::move(say)));
}

}  // namespace utlz
