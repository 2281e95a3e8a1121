// One client of the metrics server: reads a request, writes an answer, never blocks.
// Not thread safe.
#ifndef UTLZ_TOOLS_EXPORTER_CONNECTION_H_
#define UTLZ_TOOLS_EXPORTER_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "collector/unique_fd.h"
#include "tools/exporter/http_request.h"

namespace utlz {

using SharedText = std::shared_ptr<const std::string>;

// Head and body of an answer; many may share a body.
struct HttpAnswer {
  std::string head;
  SharedText body;  // may be null
};

// A body of this type; `is_head` leaves it out, as HEAD asks.
HttpAnswer MakeAnswer(const char* status, const char* content_type, SharedText body, bool is_head);

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  using Answerer = std::function<HttpAnswer(const HttpRequest& request)>;

  Connection(UniqueFd socket, Clock::time_point now) : socket_(std::move(socket)), begun_(now) {}

  int fd() const { return socket_.get(); }
  Clock::time_point begun() const { return begun_; }
  bool writes() const { return writing_; }  // else it reads

  // Goes on as far as it can. False: it is over.
  bool Continue(const Answerer& answer);

 private:
  bool Read(const Answerer& answer);
  bool Write();
  bool Send(const std::string& text, size_t offset);

  UniqueFd socket_;
  Clock::time_point begun_;
  std::string request_;  // as far as it came
  HttpAnswer answer_;
  size_t written_ = 0;
  bool writing_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_CONNECTION_H_
