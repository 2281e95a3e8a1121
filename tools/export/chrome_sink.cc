#include "tools/export/chrome_sink.h"

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "collector/text/shown_text.h"

namespace utlz {
namespace {

using Json = nlohmann::ordered_json;

// Names are bytes of the profiled program: what is no UTF-8 is replaced, the rest escaped.
std::string Dump(const Json& json) {
  return EscapeInJson(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string Text(std::string_view text) { return Dump(Json(std::string(text))); }

// Over how long values of a counter become one line.
constexpr uint64_t kCounterLineNs = 1'000'000;

// The format counts in microseconds.
std::string MicrosecondsText(uint64_t ns) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
  return text.data();
}

Json ArgumentJson(const TraceArgument& argument) {
  if (const auto* count = std::get_if<uint64_t>(&argument.value)) return *count;
  if (const auto* number = std::get_if<double>(&argument.value)) {
    return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  }
  return std::string(std::get<std::string_view>(argument.value));
}

std::string Metadata(const char* what, uint32_t process, uint64_t track, std::string_view name) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(track) + ",\"args\":{\"name\":" + Text(name) + "}}";
}

}  // namespace

// What came before the run's start has a minus.
std::string ChromeSink::Microseconds(uint64_t ns) const {
  return ns < run_start_ns_ ? "-" + MicrosecondsText(run_start_ns_ - ns)
                            : MicrosecondsText(ns - run_start_ns_);
}

void ChromeSink::Event(const std::string& event) {
  out_ << (first_ ? "" : ",\n") << event;
  first_ = false;
}

void ChromeSink::Begin() { out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"; }

void ChromeSink::Declare(const TraceProcess& process) {
  std::string name(process.name);
  if (process.pid != 0) name += " (" + std::to_string(process.pid) + ")";
  Event(Metadata("process_name", process.id, 0, name));
}

void ChromeSink::Declare(const TraceTrack& track) {
  process_by_track_[track.id] = track.process;
  Event(Metadata("thread_name", track.process, track.id, track.name));
}

void ChromeSink::Declare(const TraceCounter& counter) {
  if (counter.of_kernels) return;
  // The format has no place for a unit but the name.
  std::string& name = counter_lines_[counter.id].name;
  name = "GPU " + std::to_string(counter.gpu) + " " + std::string(counter.name);
  if (!counter.unit.empty()) name += " (" + std::string(counter.unit) + ")";
}

void ChromeSink::Write(const TraceSlice& slice) {
  const bool mark = slice.end_ns == slice.start_ns;
  std::string event = mark ? "{\"ph\":\"i\",\"s\":\"t\"" : "{\"ph\":\"X\"";
  event += ",\"name\":" + Text(slice.name) + ",\"cat\":" + Text(slice.category);
  event += ",\"pid\":" + std::to_string(process_by_track_[slice.track]) +
           ",\"tid\":" + std::to_string(slice.track) + ",\"ts\":" + Microseconds(slice.start_ns);
  if (!mark) event += ",\"dur\":" + MicrosecondsText(slice.end_ns - slice.start_ns);
  if (!slice.arguments.empty()) {
    Json arguments = Json::object();
    for (const TraceArgument& argument : slice.arguments) {
      arguments[std::string(argument.name)] = ArgumentJson(argument);
    }
    event += ",\"args\":" + Dump(arguments);
  }
  Event(event + "}");
}

void ChromeSink::Write(const TraceSample& sample) {
  for (const CounterValue& value : sample.values) {
    const auto found = counter_lines_.find(value.counter);
    if (found == counter_lines_.end() || !std::isfinite(value.value)) continue;
    if (sample.end_ns <= sample.start_ns) continue;
    CounterLine& line = found->second;
    // Not over a pause, nor where time went back.
    const bool goes_on = line.time_ns > 0 && sample.start_ns >= line.start_ns &&
                         sample.end_ns - line.start_ns <= kCounterLineNs;
    if (!goes_on) Flush(line);
    if (line.time_ns == 0) line.start_ns = sample.start_ns;
    const auto time_ns = static_cast<double>(sample.end_ns - sample.start_ns);
    line.value_ns += value.value * time_ns;
    line.time_ns += time_ns;
  }
}

void ChromeSink::Flush(CounterLine& line) {
  if (line.time_ns == 0) return;
  Event("{\"ph\":\"C\",\"pid\":0,\"ts\":" + Microseconds(line.start_ns) +
        ",\"name\":" + Text(line.name) +
        ",\"args\":{\"value\":" + Dump(Json(line.value_ns / line.time_ns)) + "}}");
  line.value_ns = 0;
  line.time_ns = 0;
}

void ChromeSink::End() {
  for (auto& [id, line] : counter_lines_) Flush(line);
  out_ << "\n]}\n";
}

}  // namespace utlz
