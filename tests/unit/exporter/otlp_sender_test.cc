#include "tools/exporter/otlp_sender.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "collector/unique_fd.h"
#include "tools/exporter/otlp_metrics.pb.h"
#include "tools/exporter/otlp_request.h"

namespace utlz {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

MetricsSnapshot SnapshotOf(double launches) {
  MetricsSnapshot snapshot;
  snapshot.Add(Metric::kKernelLaunches, {{"UUID", "GPU-1"}, {"Hostname", "h"}}, launches);
  snapshot.Add(Metric::kNvmlBusy, {{"UUID", "GPU-1"}, {"modelName", "H200"}, {"Hostname", "h"}},
               0.9);
  snapshot.Add(Metric::kEnergyJoules, {{"UUID", "GPU-1"}, {"Hostname", "h"}}, 500);
  snapshot.Add(Metric::kBuildInfo, {{"Hostname", "h"}, {"version", "1.2"}}, 1);
  return snapshot;
}

const otlp::Metric* MetricIn(const otlp::ExportMetricsServiceRequest& request,
                             const std::string& name) {
  for (const auto& metric : request.resource_metrics(0).scope_metrics(0).metrics()) {
    if (metric.name() == name) return &metric;
  }
  return nullptr;
}

std::string Attribute(const otlp::NumberDataPoint& point, const std::string& key) {
  for (const auto& attribute : point.attributes()) {
    if (attribute.key() == key) return attribute.value().string_value();
  }
  return {};
}

TEST(OtlpRequest, SumsAndGauges) {
  otlp::ExportMetricsServiceRequest request;
  ASSERT_TRUE(request.ParseFromString(WriteOtlpRequest(SnapshotOf(7), {100, 200}, 3)));
  const auto* launches = MetricIn(request, "utlz_kernel_launches");
  ASSERT_NE(launches, nullptr);
  EXPECT_TRUE(launches->sum().is_monotonic());
  EXPECT_EQ(launches->sum().aggregation_temporality(), otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  const auto& point = launches->sum().data_points(0);
  EXPECT_EQ(point.as_double(), 7);
  EXPECT_EQ(point.start_time_unix_nano(), 100u);
  EXPECT_EQ(point.time_unix_nano(), 200u);
  EXPECT_EQ(Attribute(point, "UUID"), "GPU-1");
  EXPECT_EQ(Attribute(point, "Hostname"), "") << "it is the resource's";
  const auto* utilization = MetricIn(request, "hw.gpu.utilization");
  ASSERT_NE(utilization, nullptr);
  EXPECT_EQ(utilization->gauge().data_points(0).as_double(), 0.9);
  EXPECT_EQ(Attribute(utilization->gauge().data_points(0), "hw.id"), "GPU-1");
  EXPECT_EQ(Attribute(utilization->gauge().data_points(0), "hw.gpu.task"), "general");
  ASSERT_NE(MetricIn(request, "hw.energy"), nullptr);
  EXPECT_EQ(MetricIn(request, "hw.energy")->unit(), "J");
  EXPECT_EQ(MetricIn(request, "utlz_otlp_requests_dropped")->sum().data_points(0).as_double(), 3);
  EXPECT_EQ(request.resource_metrics(0).resource().attributes(1).value().string_value(), "h");
  EXPECT_EQ(request.resource_metrics(0).scope_metrics(0).scope().version(), "1.2");
}

// Of UCUM: what counts or is a share is 1.
TEST(OtlpRequest, EveryUnitIsSaid) {
  MetricsSnapshot snapshot;
  for (size_t i = 0; i < kMetrics; ++i) snapshot.Add(static_cast<Metric>(i), {}, 1);
  otlp::ExportMetricsServiceRequest request;
  ASSERT_TRUE(request.ParseFromString(WriteOtlpRequest(snapshot, {100, 200}, 0)));
  for (size_t i = 0; i < kMetrics; ++i) {
    const MetricDescription& description = DescriptionOf(static_cast<Metric>(i));
    const std::string unit = description.unit;
    std::string name = description.name;
    if (description.type == MetricType::kCounter) name.resize(name.size() - 6);  // _total
    const auto* metric = MetricIn(request, name);
    ASSERT_NE(metric, nullptr) << name;
    EXPECT_EQ(metric->unit() == "1", unit.empty() || unit == "ratio") << name;
  }
  EXPECT_EQ(MetricIn(request, "utlz_gpu_temperature_celsius")->unit(), "Cel");
}

// Takes requests on a free port of loopback, and answers each with a status.
class Collector {
 public:
  explicit Collector(int status) : status_(status) {
    listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_.get(), 16);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    endpoint_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Collector() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  const std::string& endpoint() const { return endpoint_; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  void SetStatus(int status) { status_ = status; }

 private:
  void Run() {
    while (true) {
      const UniqueFd client(accept(listener_.get(), nullptr, nullptr));
      if (!client.valid()) return;
      std::string request;
      char bytes[4096];
      size_t whole = std::string::npos;
      while (request.size() < whole) {
        const ssize_t count = recv(client.get(), bytes, sizeof(bytes), 0);
        if (count <= 0) break;
        request.append(bytes, static_cast<size_t>(count));
        const size_t head = request.find("\r\n\r\n");
        const size_t length = request.find("Content-Length: ");
        if (head == std::string::npos || length == std::string::npos) continue;
        whole = head + 4 + std::strtoul(request.c_str() + length + 16, nullptr, 10);
      }
      const std::string answer =
          "HTTP/1.1 " + std::to_string(status_) + " x\r\nContent-Length: 0\r\n\r\n";
      send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
  }

  std::atomic<int> status_;
  UniqueFd listener_;
  std::string endpoint_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
  std::thread thread_;
};

class OtlpSenderTest : public testing::Test {
 protected:
  std::unique_ptr<OtlpSender> Start(const std::string& endpoint, size_t most_waiting = 40) {
    auto sender = OtlpSender::Start(endpoint, &board_,
                                    {.period = std::chrono::milliseconds(1),
                                     .patience = std::chrono::milliseconds(2000),
                                     .most_waiting = most_waiting},
                                    [this](const std::string& sentence) {
                                      const std::lock_guard lock(mutex_);
                                      said_.push_back(sentence);
                                    });
    EXPECT_TRUE(sender.ok()) << sender.status();
    return *std::move(sender);
  }
  void Post(double launches) {
    board_.Post(std::make_shared<const MetricsSnapshot>(SnapshotOf(launches)));
  }
  std::vector<std::string> said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

  SnapshotBoard board_;
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST_F(OtlpSenderTest, SendsTheLastSnapshotToo) {
  Collector collector(200);
  auto sender = Start(collector.endpoint());
  Post(7);
  sender.reset();
  ASSERT_FALSE(collector.requests().empty());
  EXPECT_THAT(collector.requests().front(),
              AllOf(HasSubstr("POST /v1/metrics HTTP/1.0\r\n"),
                    HasSubstr("Content-Type: application/x-protobuf\r\n")));
}

TEST_F(OtlpSenderTest, WhatIsNotTakenWaitsAndTheOldestIsLeftOut) {
  Collector collector(503);
  auto sender = Start(collector.endpoint(), 2);
  for (int i = 0; i < 5; ++i) {
    const size_t before = collector.requests().size();
    Post(i);
    // The second of them was made after the snapshot came.
    while (collector.requests().size() < before + 2) std::this_thread::yield();
  }
  collector.SetStatus(200);
  sender.reset();
  EXPECT_THAT(said(), Contains(HasSubstr("answers 503; it is tried again")));
  EXPECT_THAT(said(), Contains(HasSubstr("requests were not taken by")));
}

TEST_F(OtlpSenderTest, NobodyThereIsSaidOnce) {
  std::string endpoint;
  { endpoint = Collector(200).endpoint(); }
  auto sender = Start(endpoint);
  Post(1);
  sender.reset();
  EXPECT_THAT(said(), Contains(HasSubstr("--otlp: cannot ask http://127.0.0.1:")));
}

TEST(OtlpEndpoint, TheEnvironmentCountsWhereItIsAskedFor) {
  unsetenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  EXPECT_TRUE(absl::IsNotFound(OtlpSender::EndpointOf("env").status()));
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/", 1);
  EXPECT_EQ(*OtlpSender::EndpointOf("env"), "http://127.0.0.1:4318/v1/metrics");
  setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:9/x", 1);
  EXPECT_EQ(*OtlpSender::EndpointOf("env"), "http://127.0.0.1:9/x");
  EXPECT_EQ(*OtlpSender::EndpointOf("http://127.0.0.1:1"), "http://127.0.0.1:1");
}

}  // namespace
}  // namespace utlz
