#include "tools/exporter/exporter.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Start(
    const ExporterOptions& options, const std::function<void(const std::string& sentence)>& say) {
  std::unique_ptr<Exporter> exporter(new Exporter(say));
  if (!options.place.empty()) {
    absl::StatusOr<ListeningSocket> socket = ListeningSocket::Open(options.place);
    if (!socket.ok()) return socket.status();
    say(absl::StrCat("metrics: ", socket->place(),
                     socket->is_loopback() ? "" : ", for everybody who reaches that address"));
    auto server = MetricsServer::Start(*std::move(socket), &exporter->board_);
    if (!server.ok()) return server.status();
    exporter->server_ = *std::move(server);
  }
  if (!options.file.empty()) {
    auto file = MetricsFile::Start(options.file, &exporter->board_, say);
    if (!file.ok()) return file.status();
    exporter->file_ = *std::move(file);
  }
  if (!options.otlp.empty()) {
    const absl::StatusOr<std::string> endpoint = OtlpSender::EndpointOf(options.otlp);
    if (!endpoint.ok()) return endpoint.status();
    auto sender = OtlpSender::Start(*endpoint, &exporter->board_, {}, say);
    if (!sender.ok()) return sender.status();
    exporter->otlp_ = *std::move(sender);
  }
  return exporter;
}

Exporter::~Exporter() {
  if (const SharedSnapshot last = board_.Latest()) {
    MetricsSnapshot lasting = *last;
    lasting.RemoveGauges();
    Publish(std::move(lasting));
  }
  board_.Close();
}

void Exporter::Publish(MetricsSnapshot snapshot) {
  board_.Post(std::make_shared<const MetricsSnapshot>(std::move(snapshot)));
}

}  // namespace utlz
