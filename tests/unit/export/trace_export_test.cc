#include "tools/export/trace_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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
using ::testing::Not;

TraceExportOptions InTime(double from_s, double to_s) {
  TraceExportOptions options;
  options.from_s = from_s;
  options.to_s = to_s;
  return options;
}

TraceExportOptions Replacing() {
  TraceExportOptions options;
  options.replace = true;
  return options;
}

class TraceExportTest : public ::testing::Test {
 protected:
  TraceExportTest()
      : folder_(::testing::TempDir() + "export_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        profile_(folder_ + ".utlz"),
        trace_(folder_ + ".trace") {
    std::filesystem::remove(trace_);
    MakeProfile(profile_);
  }

  std::string Export(TraceFormat format, const TraceExportOptions& options = {}) {
    const absl::StatusOr<TraceExportResult> result = ExportTrace(profile_, format, trace_, options);
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
  EXPECT_EQ(result_.counter_values, 4u);
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
  EXPECT_EQ(threads[gemm["tid"]], "GPU 0 stream 7, pid 4242");
  EXPECT_DOUBLE_EQ(gemm["dur"], 1.0);
  EXPECT_EQ(gemm["args"]["launch__grid_dim"], "1,1,1");
  EXPECT_EQ(gemm["args"]["launch__registers_per_thread"], 168);
  EXPECT_EQ(gemm["args"]["dram__bytes_read.sum"], 4096);
  EXPECT_EQ(gemm["args"]["flops"], 5e5);
  EXPECT_FALSE(gemm["args"].contains("dram__bytes_write.sum")) << "unknown is absent";
  ASSERT_EQ(slices.count("copy host to device"), 1u);
  EXPECT_EQ(slices.find("copy host to device")->second["args"]["bytes"], 4096);
  EXPECT_EQ(slices.count("step"), 2u);
}

TEST_F(TraceExportTest, ChromeTimesKeepTheirNanoseconds) {
  const std::string text = Export(TraceFormat::kChrome);
  EXPECT_THAT(text, HasSubstr("\"ts\":1.500")) << "since the run's start";
  EXPECT_THAT(text, HasSubstr("\"ts\":0.500"));
}

TEST_F(TraceExportTest, ChromeHasCountersByTheMillisecond) {
  const auto trace = nlohmann::json::parse(Export(TraceFormat::kChrome));
  std::vector<nlohmann::json> counters;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "C") counters.push_back(event);
  }
  ASSERT_EQ(counters.size(), 1u) << "four values within 7 microseconds";
  EXPECT_EQ(counters[0]["name"], "GPU 0 dram__bytes_read.sum (byte)");
  EXPECT_EQ(counters[0]["args"]["value"], 480) << "the mean of 320 and 640";
}

TEST_F(TraceExportTest, KeepsWhatOverlapsTheTimeRange) {
  const std::string text = Export(TraceFormat::kChrome, InTime(1.2e-6, 2e-6));
  EXPECT_EQ(result_.kernels, 1u) << "that of 1500 to 2500 ns";
  EXPECT_EQ(result_.copies, 0u);
  EXPECT_EQ(result_.markers, 1u) << "the outer one";
  EXPECT_THAT(text, HasSubstr("\"ts\":1.500"));
  EXPECT_THAT(text, Not(HasSubstr("\"ts\":0.500")));
}

TEST_F(TraceExportTest, LeavesCountersOut) {
  TraceExportOptions options = Replacing();
  options.counters = false;
  for (const TraceFormat format : {TraceFormat::kChrome, TraceFormat::kPerfetto}) {
    const std::string text = Export(format, options);
    EXPECT_EQ(result_.counter_values, 0u);
    EXPECT_EQ(result_.kernels, 3u);
    EXPECT_THAT(text, Not(HasSubstr("\"ph\":\"C\"")));
  }
}

TEST_F(TraceExportTest, RefusesAnEmptyTimeRange) {
  const auto result = ExportTrace(profile_, TraceFormat::kChrome, trace_, InTime(2.0, 1.0));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TraceExportTest, ReplacesAFileOnlyIfToldTo) {
  std::ofstream(trace_) << "mine";
  const auto refused = ExportTrace(profile_, TraceFormat::kChrome, trace_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::filesystem::file_size(trace_), 4u);
  EXPECT_THAT(Export(TraceFormat::kChrome, Replacing()), HasSubstr("traceEvents"));
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

// Work of a stream.
struct QueueEvent {
  uint64_t start = 0;
  uint64_t duration = 0;
  uint64_t context = 0;
  uint64_t queue = 0;
  uint64_t stage = 0;
  uint64_t name = 0;
  std::vector<uint32_t> grid;
  std::map<std::string, uint64_t> counts;
  std::map<std::string, double> numbers;
};

struct Counter {
  std::string name;
  uint32_t group = 0;
  std::vector<std::pair<uint64_t, double>> values;
};

struct PerfettoTrace {
  std::map<uint64_t, std::string> tracks;
  std::map<uint64_t, std::string> names;
  std::map<uint64_t, std::string> specifications;
  std::map<uint64_t, uint32_t> categories;  // of stages
  std::map<uint64_t, uint32_t> pids;        // of contexts
  std::vector<Packet> events;
  std::vector<QueueEvent> queue_events;
  std::map<uint32_t, Counter> counters;
};

void ReadCounterSpec(protozero::pbf_reader spec, PerfettoTrace* trace) {
  uint32_t id = 0;
  Counter counter;
  while (spec.next()) {
    switch (spec.tag()) {
      case field::kSpecId:
        id = spec.get_uint32();
        break;
      case field::kSpecName:
        counter.name = spec.get_string();
        break;
      case field::kSpecGroups:
        counter.group = static_cast<uint32_t>(spec.get_enum());
        break;
      default:
        spec.skip();
    }
  }
  trace->counters[id] = counter;
}

void ReadCounterValue(protozero::pbf_reader value, uint64_t timestamp, PerfettoTrace* trace) {
  uint32_t id = 0;
  double number = 0;
  while (value.next()) {
    if (value.tag() == field::kCounterId) {
      id = value.get_uint32();
    } else if (value.tag() == field::kCounterDouble) {
      number = value.get_double();
    } else {
      value.skip();
    }
  }
  trace->counters.at(id).values.emplace_back(timestamp, number);
}

void ReadCounters(protozero::pbf_reader event, uint64_t timestamp, PerfettoTrace* trace) {
  while (event.next()) {
    if (event.tag() == field::kCounters) {
      ReadCounterValue(event.get_message(), timestamp, trace);
    } else if (event.tag() == field::kCounterDescriptor) {
      protozero::pbf_reader descriptor = event.get_message();
      while (descriptor.next(field::kSpecs)) ReadCounterSpec(descriptor.get_message(), trace);
    } else {
      event.skip();
    }
  }
}

void ReadComputeArgument(protozero::pbf_reader argument, QueueEvent* event) {
  std::string name;
  while (argument.next()) {
    switch (argument.tag()) {
      case field::kComputeName:
        name = argument.get_string();
        break;
      case field::kComputeUint:
        event->counts[name] = argument.get_uint64();
        break;
      case field::kComputeDouble:
        event->numbers[name] = argument.get_double();
        break;
      default:
        argument.skip();
    }
  }
}

void ReadComputeLaunch(protozero::pbf_reader launch, QueueEvent* event) {
  while (launch.next()) {
    if (launch.tag() == field::kLaunchGrid) {
      protozero::pbf_reader grid = launch.get_message();
      while (grid.next()) event->grid.push_back(grid.get_uint32());
    } else if (launch.tag() == field::kLaunchArguments) {
      ReadComputeArgument(launch.get_message(), event);
    } else {
      launch.skip();
    }
  }
}

QueueEvent ReadQueueEvent(protozero::pbf_reader reader) {
  QueueEvent event;
  while (reader.next()) {
    switch (reader.tag()) {
      case field::kRenderDuration:
        event.duration = reader.get_uint64();
        break;
      case field::kRenderContext:
        event.context = reader.get_uint64();
        break;
      case field::kRenderQueueIid:
        event.queue = reader.get_uint64();
        break;
      case field::kRenderStageIid:
        event.stage = reader.get_uint64();
        break;
      case field::kRenderNameIid:
        event.name = reader.get_uint64();
        break;
      case field::kRenderLaunch:
        ReadComputeLaunch(reader.get_message(), &event);
        break;
      default:
        reader.skip();
    }
  }
  return event;
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

// Names, specifications and contexts alike begin with their number.
void ReadInterned(protozero::pbf_reader interned, PerfettoTrace* trace) {
  while (interned.next()) {
    const uint32_t kind = interned.tag();
    protozero::pbf_reader entry = interned.get_message();
    uint64_t id = 0;
    while (entry.next()) {
      if (entry.tag() == 1) {
        id = entry.get_uint64();
      } else if (kind == field::kGraphicsContexts && entry.tag() == field::kContextPid) {
        trace->pids[id] = entry.get_uint32();
      } else if (kind == field::kGpuSpecifications &&
                 entry.tag() == field::kSpecificationCategory) {
        trace->categories[id] = static_cast<uint32_t>(entry.get_enum());
      } else if (entry.tag() == 2) {
        (kind == field::kEventNames ? trace->names : trace->specifications)[id] =
            entry.get_string();
      } else {
        entry.skip();
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
          ReadInterned(packet.get_message(), &trace);
          break;
        case field::kTrackEvent:
          trace.events.push_back(ReadEvent(packet.get_message()));
          trace.events.back().timestamp = timestamp;
          break;
        case field::kGpuRenderStageEvent:
          trace.queue_events.push_back(ReadQueueEvent(packet.get_message()));
          trace.queue_events.back().start = timestamp;
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
  EXPECT_EQ(slices, 2) << "the NVTX ranges; streams have events of another kind";
}

TEST_F(TraceExportTest, PerfettoCountersAreWrittenAtTheEndOfTheirTime) {
  const PerfettoTrace trace = ReadPerfetto(Export(TraceFormat::kPerfetto));
  const std::vector<std::pair<uint64_t, double>> expected = {
      {kStartNs, 0},        {kStartNs + 1000, 320}, {kStartNs + 2000, 640},
      {kStartNs + 5000, 0}, {kStartNs + 6000, 320}, {kStartNs + 7000, 640}};
  int found = 0;
  for (const auto& [id, counter] : trace.counters) {
    if (counter.name != "dram__bytes_read.sum") continue;
    ++found;
    EXPECT_EQ(counter.values, expected);
    EXPECT_EQ(counter.group, field::kMemoryGroup);
  }
  EXPECT_EQ(found, 1) << "a metric of two sets is one counter";
}

// Perfetto's GPU compute views take kernels from render stage events of the compute category, their
// launch from typed arguments.
TEST_F(TraceExportTest, PerfettoHoldsKernelsAsComputeWorkOfQueues) {
  const PerfettoTrace trace = ReadPerfetto(Export(TraceFormat::kPerfetto));
  ASSERT_EQ(trace.queue_events.size(), 4u);
  const QueueEvent& gemm = trace.queue_events[0];
  EXPECT_EQ(trace.names.at(gemm.name), "gemm");
  EXPECT_EQ(gemm.start, kStartNs);
  EXPECT_EQ(gemm.duration, 1000u);
  EXPECT_EQ(trace.pids.at(gemm.context), 4242u);
  EXPECT_EQ(trace.specifications.at(gemm.queue), "GPU 0 stream 7, pid 4242");
  EXPECT_EQ(trace.specifications.at(gemm.stage), "kernel");
  EXPECT_EQ(trace.categories.at(gemm.stage), field::kComputeStage);
  EXPECT_EQ(gemm.grid, (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(gemm.counts.at("launch__registers_per_thread"), 168u);
  EXPECT_EQ(gemm.counts.at("launch__block_size"), 1u);
  EXPECT_EQ(gemm.numbers.at("dram__bytes_read.sum"), 4096);
  EXPECT_FALSE(gemm.numbers.contains("dram__bytes_write.sum"));
  const QueueEvent& copy = trace.queue_events[3];
  EXPECT_EQ(trace.specifications.at(copy.stage), "copy");
  EXPECT_EQ(trace.categories.at(copy.stage), field::kOtherStage);
  EXPECT_EQ(copy.queue, gemm.queue) << "on the same stream";
  EXPECT_TRUE(copy.grid.empty());
  EXPECT_EQ(copy.counts.at("bytes"), 4096u);
}

TEST_F(TraceExportTest, PerfettoGivesAttributedRatesForTheTimeOfALaunch) {
  const PerfettoTrace trace = ReadPerfetto(Export(TraceFormat::kPerfetto));
  const std::vector<std::pair<uint64_t, double>> expected = {
      {kStartNs, 0}, {kStartNs + 1000, 40}, {kStartNs + 1500, 0}, {kStartNs + 2500, 40}};
  int found = 0;
  for (const auto& [id, counter] : trace.counters) {
    if (counter.group != field::kComputeGroup) continue;
    EXPECT_THAT(counter.name, HasSubstr("throughput.avg.pct_of_peak_sustained_elapsed"));
    EXPECT_EQ(counter.values, expected);
    ++found;
  }
  EXPECT_EQ(found, 2) << "DRAM, and memory as a whole";
}

TEST_F(TraceExportTest, SaysWhatCannotBeReadOrWritten) {
  EXPECT_FALSE(ExportTrace(folder_ + ".missing", TraceFormat::kChrome, trace_).ok());
  const auto result = ExportTrace(profile_, TraceFormat::kChrome, folder_ + "/no/such/folder");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(TraceExportTest, ReplacesNoProfile) {
  const auto result = ExportTrace(profile_, TraceFormat::kChrome, profile_);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(ExportTrace(profile_, TraceFormat::kChrome, trace_).ok());
}

}  // namespace
}  // namespace utlz
