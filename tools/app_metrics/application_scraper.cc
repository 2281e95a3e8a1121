#include "tools/app_metrics/application_scraper.h"

#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/quiet_thread.h"
#include "tools/app_metrics/application_page.h"
#include "tools/http/http_client.h"

namespace utlz {
namespace {

constexpr int kOk = 200;

class RunningScraper : public ApplicationScraper {
 public:
  RunningScraper(HttpUrl url, std::function<void(const std::string&)> say)
      : url_(std::move(url)), say_(std::move(say)) {
    thread_ = StartQuietThread("utlz-app", [this] { Run(); });
  }

  ~RunningScraper() override {
    stop_.Give();
    thread_.join();
  }

  std::optional<ApplicationReading> Latest() const override {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

 private:
  void Run() {
    do {
      absl::StatusOr<ApplicationReading> reading = Read();
      if (absl::IsCancelled(reading.status())) return;
      Tell(reading.status());
      const std::lock_guard lock(mutex_);
      latest_ = reading.ok() ? std::make_optional(*std::move(reading)) : std::nullopt;
    } while (!stop_.WaitFor(kPeriod));
  }

  absl::StatusOr<ApplicationReading> Read() const {
    const absl::StatusOr<HttpReply> reply =
        Ask(url_, {.accept = "text/plain;version=0.0.4"},
            {.time = kPatience, .reply_bytes = kMaxApplicationPageBytes}, stop_);
    if (!reply.ok()) return reply.status();
    if (reply->status != kOk) {
      return absl::UnavailableError(absl::StrCat(url_.Text(), " answers ", reply->status));
    }
    std::optional<ApplicationReading> reading = ReadApplicationPage(reply->body);
    if (!reading.has_value()) {
      return absl::NotFoundError(
          absl::StrCat(url_.Text(), " has no metrics of vLLM, SGLang, TGI or Triton"));
    }
    reading->set_time_ns(RealtimeNs());
    return *std::move(reading);
  }

  void Tell(const absl::Status& status) {
    if (!status.ok() && !failed_) {
      say_(absl::StrCat("--app-metrics: ", std::string(status.message()), "; it is asked again"));
    }
    failed_ = !status.ok();
  }

  const HttpUrl url_;
  const std::function<void(const std::string&)> say_;
  StopSignal stop_;
  bool failed_ = false;
  mutable std::mutex mutex_;
  std::optional<ApplicationReading> latest_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ApplicationScraper>> ApplicationScraper::Start(
    const std::string& url, std::function<void(const std::string& sentence)> say) {
  absl::StatusOr<HttpUrl> parsed = ParseHttpUrl(url);
  if (!parsed.ok()) return parsed.status();
  if (parsed->path == "/") parsed->path = "/metrics";
  return std::unique_ptr<ApplicationScraper>(
      std::make_unique<RunningScraper>(*std::move(parsed), std::move(say)));
}

}  // namespace utlz
