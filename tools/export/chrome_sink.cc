#include "tools/export/chrome_sink.h"

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace utlz {
namespace {

using Json = nlohmann::ordered_json;

// Names are bytes of the profiled program: what is no UTF-8 is replaced, the rest escaped.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Text(std::string_view text) { return Dump(Json(std::string(text))); }

// The format counts in microseconds; a double would lose nanoseconds of today's date.
std::string Microseconds(uint64_t ns) {
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
  counter_names_[counter.id] =
      "GPU " + std::to_string(counter.gpu) + " " + std::string(counter.name);
}

void ChromeSink::Write(const TraceSlice& slice) {
  const bool mark = slice.end_ns == slice.start_ns;
  std::string event = mark ? "{\"ph\":\"i\",\"s\":\"t\"" : "{\"ph\":\"X\"";
  event += ",\"name\":" + Text(slice.name) + ",\"cat\":" + Text(slice.category);
  event += ",\"pid\":" + std::to_string(process_by_track_[slice.track]) +
           ",\"tid\":" + std::to_string(slice.track) + ",\"ts\":" + Microseconds(slice.start_ns);
  if (!mark) event += ",\"dur\":" + Microseconds(slice.end_ns - slice.start_ns);
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
    if (!std::isfinite(value.value)) continue;
    Event("{\"ph\":\"C\",\"pid\":0,\"ts\":" + Microseconds(sample.start_ns) +
          ",\"name\":" + Text(counter_names_[value.counter]) +
          ",\"args\":{\"value\":" + Dump(Json(value.value)) + "}}");
  }
}

void ChromeSink::End() { out_ << "\n]}\n"; }

}  // namespace utlz
