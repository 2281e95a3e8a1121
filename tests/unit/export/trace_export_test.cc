#include "tools/export/trace_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include "tests/unit/export/profile_maker.h"
#include "tools/export/perfetto_fields.h"

namespace utlz {
namespace {

namespace field = perfetto_fields;
using ::testing::HasSubstr;

class TraceExportTest : public ::testing::Test {
 protected:
  TraceExportTest()
      : folder_(::testing::TempDir() + "export_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        profile_(folder_ + ".utlz"),
        trace_(folder_ + ".trace") {
    MakeProfile(profile_);
  }

  std::string Export(TraceFormat format) {
    const absl::StatusOr<TraceExportResult> result = ExportTrace(profile_, format, trace_);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    result_ = *result;
    std::ifstream file(trace_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string folder_;
  std::string profile_;
  std::string trace_;
  TraceExportResult result_;
};

TEST_F(TraceExportTest, CountsWhatItWroteAndWhatItRefused) {
  Export(TraceFormat::kChrome);
  EXPECT_EQ(result_.kernels, 3u);
  EXPECT_EQ(result_.copies, 1u);
  EXPECT_EQ(result_.markers, 2u);
  EXPECT_EQ(result_.counter_values, 2u);
  EXPECT_EQ(result_.frames_refused, 1u);
}

TEST_F(TraceExportTest, ChromeHoldsEveryLaunchOnItsStream) {
  const auto trace = nlohmann::json::parse(Export(TraceFormat::kChrome));
  std::map<int, std::string> threads;
  std::multimap<std::string, nlohmann::json> slices;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") threads[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") slices.emplace(event["name"], event);
  }
  ASSERT_EQ(slices.count("gemm"), 2u);
  const auto& gemm = slices.find("gemm")->second;
  EXPECT_EQ(threads[gemm["tid"]], "GPU 0 stream 7");
  EXPECT_DOUBLE_EQ(gemm["dur"], 1.0);
  EXPECT_EQ(gemm["args"]["launch__grid_dim"], "1,1,1");
  EXPECT_EQ(gemm["args"]["launch__registers_per_thread"], 168);
  ASSERT_EQ(slices.count("copy host to device"), 1u);
  EXPECT_EQ(slices.find("copy host to device")->second["args"]["bytes"], 4096);
  EXPECT_EQ(slices.count("step"), 2u);
}

TEST_F(TraceExportTest, ChromeTimesKeepTheirNanoseconds) {
  const std::string text = Export(TraceFormat::kChrome);
  EXPECT_THAT(text, HasSubstr("\"ts\":1760000000000001.500"));
  EXPECT_THAT(text, HasSubstr("\"ts\":1760000000000000.500"));
}

TEST_F(TraceExportTest, HostileNamesStayNames) {
  const auto trace = nlohmann::json::parse(Export(TraceFormat::kChrome));
  int found = 0;
  for (const auto& event : trace["traceEvents"]) {
    const std::string name = event["name"];
    found += name.find("evil\",\"ph\":\"X") == 0 && event["cat"] == "kernel";
  }
  EXPECT_EQ(found, 1);
}

struct Packet {
  uint64_t timestamp = 0;
  int32_t event_type = 0;
  uint64_t track = 0;
  uint64_t name = 0;
};

struct PerfettoTrace {
  std::map<uint64_t, std::string> tracks;
  std::map<uint64_t, std::string> names;
  std::vector<Packet> events;
  std::vector<std::pair<uint64_t, double>> counters;
};

void ReadCounters(protozero::pbf_reader event, uint64_t timestamp, PerfettoTrace* trace) {
  while (event.next(field::kCounters)) {
    protozero::pbf_reader counter = event.get_message();
    while (counter.next()) {
      if (counter.tag() == field::kCounterDouble) {
        trace->counters.emplace_back(timestamp, counter.get_double());
      } else {
        counter.skip();
      }
    }
  }
}

void ReadTrack(protozero::pbf_reader descriptor, PerfettoTrace* trace) {
  uint64_t uuid = 0;
  while (descriptor.next()) {
    if (descriptor.tag() == field::kTrackUuid) {
      uuid = descriptor.get_uint64();
    } else if (descriptor.tag() == field::kTrackName) {
      trace->tracks[uuid] = descriptor.get_string();
    } else {
      descriptor.skip();
    }
  }
}

void ReadNames(protozero::pbf_reader interned, PerfettoTrace* trace) {
  while (interned.next(field::kEventNames)) {
    protozero::pbf_reader entry = interned.get_message();
    uint64_t id = 0;
    while (entry.next()) {
      if (entry.tag() == field::kIid) {
        id = entry.get_uint64();
      } else {
        trace->names[id] = entry.get_string();
      }
    }
  }
}

Packet ReadEvent(protozero::pbf_reader event) {
  Packet packet;
  while (event.next()) {
    switch (event.tag()) {
      case field::kEventType:
        packet.event_type = event.get_enum();
        break;
      case field::kEventTrack:
        packet.track = event.get_uint64();
        break;
      case field::kNameIid:
        packet.name = event.get_uint64();
        break;
      default:
        event.skip();
    }
  }
  return packet;
}

PerfettoTrace ReadPerfetto(const std::string& bytes) {
  PerfettoTrace trace;
  protozero::pbf_reader file(bytes);
  while (file.next(field::kTracePacket)) {
    protozero::pbf_reader packet = file.get_message();
    uint64_t timestamp = 0;
    while (packet.next()) {
      switch (packet.tag()) {
        case field::kTimestamp:
          timestamp = packet.get_uint64();
          break;
        case field::kTrackDescriptor:
          ReadTrack(packet.get_message(), &trace);
          break;
        case field::kInternedData:
          ReadNames(packet.get_message(), &trace);
          break;
        case field::kTrackEvent:
          trace.events.push_back(ReadEvent(packet.get_message()));
          trace.events.back().timestamp = timestamp;
          break;
        case field::kGpuCounterEvent:
          ReadCounters(packet.get_message(), timestamp, &trace);
          break;
        default:
          packet.skip();
      }
    }
  }
  return trace;
}

TEST_F(TraceExportTest, PerfettoPairsEveryBeginWithAnEnd) {
  const PerfettoTrace trace = ReadPerfetto(Export(TraceFormat::kPerfetto));
  std::map<uint64_t, uint64_t> open;
  int slices = 0;
  for (const Packet& event : trace.events) {
    ASSERT_TRUE(trace.tracks.contains(event.track));
    if (event.event_type == field::kSliceBegin) {
      EXPECT_FALSE(open.contains(event.track));
      open[event.track] = event.timestamp;
      EXPECT_TRUE(trace.names.contains(event.name));
    } else {
      ASSERT_EQ(event.event_type, field::kSliceEnd);
      EXPECT_GT(event.timestamp, open.at(event.track));
      open.erase(event.track);
      ++slices;
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(slices, 6);
}

TEST_F(TraceExportTest, PerfettoCountersAreWrittenAtTheEndOfTheirTime) {
  const PerfettoTrace trace = ReadPerfetto(Export(TraceFormat::kPerfetto));
  const std::vector<std::pair<uint64_t, double>> expected = {
      {kStartNs, 0}, {kStartNs + 1000, 320}, {kStartNs + 2000, 640}};
  EXPECT_EQ(trace.counters, expected);
}

TEST_F(TraceExportTest, SaysWhatCannotBeReadOrWritten) {
  EXPECT_FALSE(ExportTrace(folder_ + ".missing", TraceFormat::kChrome, trace_).ok());
  const auto result = ExportTrace(profile_, TraceFormat::kChrome, folder_ + "/no/such/folder");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace utlz
