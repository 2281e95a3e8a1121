// Asks a server for its page every few seconds, on a thread of its own, and keeps what it said
// last. Thread safety: Latest() from any thread, the rest from one.
#ifndef UTLZ_TOOLS_APP_METRICS_APPLICATION_SCRAPER_H_
#define UTLZ_TOOLS_APP_METRICS_APPLICATION_SCRAPER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/profile.pb.h"

namespace utlz {

class ApplicationScraper {
 public:
  static constexpr std::chrono::milliseconds kPeriod{5000};
  static constexpr std::chrono::milliseconds kPatience{2000};  // for one page

  // `url` as ParseHttpUrl takes it; without a path /metrics is asked for. `say` prints a sentence,
  // from any thread: where the page cannot be read, once until it can be again. InvalidArgument: no
  // such address.
  static absl::StatusOr<std::unique_ptr<ApplicationScraper>> Start(
      const std::string& url, std::function<void(const std::string& sentence)> say);
  virtual ~ApplicationScraper() = default;

  // Nothing before the first page, nor while the last could not be read.
  virtual std::optional<ApplicationReading> Latest() const = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_APP_METRICS_APPLICATION_SCRAPER_H_
