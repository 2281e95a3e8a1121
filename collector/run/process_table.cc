#include "collector/run/process_table.h"

#include <algorithm>

#include "collector/decode/columns.h"
#include "collector/decode/launch_decoder.h"
#include "collector/decode/parse.h"
#include "proto/valid_text.h"

namespace utlz {
namespace {

bool ColumnsAgree(const Variants& message) {
  const int count = message.name_size();
  return FitsOrAbsent(message.grid_x(), count) && FitsOrAbsent(message.grid_y(), count) &&
         FitsOrAbsent(message.grid_z(), count) && FitsOrAbsent(message.block_x(), count) &&
         FitsOrAbsent(message.block_y(), count) && FitsOrAbsent(message.block_z(), count) &&
         FitsOrAbsent(message.cluster_x(), count) && FitsOrAbsent(message.cluster_y(), count) &&
         FitsOrAbsent(message.cluster_z(), count) &&
         FitsOrAbsent(message.registers_per_thread(), count) &&
         FitsOrAbsent(message.static_shared_bytes(), count) &&
         FitsOrAbsent(message.dynamic_shared_bytes(), count) &&
         FitsOrAbsent(message.graph_node(), count) && FitsOrAbsent(message.graph(), count) &&
         FitsOrAbsent(message.flags(), count) && FitsOrAbsent(message.captured_stack(), count);
}

VariantShape ShapeAt(const Variants& message, int i) {
  return {.name = message.name(i),
          .grid = {ValueAt(message.grid_x(), i), ValueAt(message.grid_y(), i),
                   ValueAt(message.grid_z(), i)},
          .block = {ValueAt(message.block_x(), i), ValueAt(message.block_y(), i),
                    ValueAt(message.block_z(), i)},
          .cluster = {ValueAt(message.cluster_x(), i), ValueAt(message.cluster_y(), i),
                      ValueAt(message.cluster_z(), i)},
          .registers_per_thread = ValueAt(message.registers_per_thread(), i),
          .shared_bytes = ValueAt(message.static_shared_bytes(), i) +
                          ValueAt(message.dynamic_shared_bytes(), i),
          .flags = ValueAt(message.flags(), i),
          .graph = ValueAt(message.graph(), i),
          .graph_node = ValueAt(message.graph_node(), i),
          .captured_stack = ValueAt(message.captured_stack(), i)};
}

// Of an entry of a tree or a table of hashes, beside what it holds.
constexpr size_t kNodeBytes = 64;

// A vector that grows may take twice what it holds.
size_t GrownBytes(size_t before, size_t after, size_t entry_bytes) {
  return after > before ? 2 * (after - before) * entry_bytes : 0;
}

bool CountsUp(uint32_t first, size_t known) {
  return first <= known + ProcessTable::kMaxMissingIds;
}

}  // namespace

ProcessState* ProcessTable::Get(uint32_t source) {
  const auto found = processes_.find(source);
  if (found != processes_.end()) return found->second.get();
  if (processes_.size() >= kMaxProcesses || !memory_->Take(sizeof(ProcessState) + kNodeBytes)) {
    return nullptr;
  }
  auto process = std::make_unique<ProcessState>();
  process->source = source;
  live_.emplace(0, source);
  return processes_.emplace(source, std::move(process)).first->second.get();
}

std::optional<bool> ProcessTable::TakeDescription(uint16_t type, std::string_view payload,
                                                  ProcessState* process) {
  switch (type) {
    case FRAME_CONTEXT: {
      Context message;
      return Parse(payload, &message) && AddContext(process, message);
    }
    case FRAME_STRINGS: {
      Strings message;
      return Parse(payload, &message) && AddStrings(process, message);
    }
    case FRAME_VARIANTS: {
      Variants message;
      return Parse(payload, &message) && AddVariants(process, message);
    }
    default:
      return std::nullopt;
  }
}

bool ProcessTable::AddStrings(ProcessState* process, const Strings& message) {
  const uint64_t end = uint64_t{message.first()} + static_cast<uint64_t>(message.values_size());
  if (end > kMaxStringIds || !CountsUp(message.first(), process->strings.size())) return false;
  size_t bytes = GrownBytes(process->strings.size(), end, sizeof(std::string));
  for (const std::string& value : message.values()) {
    bytes += std::min(value.size(), kMaxStringBytes);
  }
  if (!memory_->Take(bytes)) return false;
  process->naming_bytes += bytes;
  if (process->strings.size() < end) process->strings.resize(end);
  for (int i = 0; i < message.values_size(); ++i) {
    const size_t id = message.first() + static_cast<size_t>(i);
    if (id == 0) continue;
    std::string& text = process->strings[id];
    text = message.values(i).substr(0, kMaxStringBytes);
    MakeValidUtf8(text.data(), text.size());
  }
  return true;
}

bool ProcessTable::AddVariants(ProcessState* process, const Variants& message) {
  const uint64_t end = uint64_t{message.first()} + static_cast<uint64_t>(message.name_size());
  const size_t before = process->variants.size();
  if (end > kMaxVariantIds || !CountsUp(message.first(), before) || !ColumnsAgree(message)) {
    return false;
  }
  const size_t bytes = GrownBytes(before, end, sizeof(VariantShape));
  if (!memory_->Take(bytes)) return false;
  process->naming_bytes += bytes;
  process->variants.resize(std::max<size_t>(before, end));
  for (int i = 0; i < message.name_size(); ++i) {
    process->variants[message.first() + static_cast<size_t>(i)] = ShapeAt(message, i);
  }
  return true;
}

bool ProcessTable::AddContext(ProcessState* process, const Context& message) {
  if (!process->ordinal_by_context.contains(message.id()) &&
      (process->ordinal_by_context.size() >= kMaxContexts || !memory_->Take(kNodeBytes))) {
    return false;
  }
  process->ordinal_by_context[message.id()] = message.device_ordinal();
  return true;
}

void ProcessTable::AddWindow(ProcessState* process, const TraceWindow& message) {
  if (windows_ >= kMaxWindows) return;
  windows_ -= process->windows.size();
  process->windows.Add(message);
  windows_ += process->windows.size();
}

StreamCount* ProcessTable::StreamOf(ProcessState* process, uint32_t context, uint32_t stream) {
  const std::pair key(context, stream);
  const auto known = process->streams.find(key);
  if (known != process->streams.end()) return &known->second;
  if (process->streams.size() >= kMaxStreams || !memory_->Take(kNodeBytes + sizeof(StreamCount))) {
    return nullptr;
  }
  return &process->streams[key];
}

void ProcessTable::ForgetNames(ProcessState* process) {
  memory_->Give(std::exchange(process->naming_bytes, 0));
  process->strings = {};
  process->variants = {};
  process->kernel_by_variant = {};
  process->stack_by_id = {};
}

void ProcessState::AddWorkOn(uint32_t device, uint64_t end_ns) {
  const auto known = recorded_until_ns.find(device);
  if (known != recorded_until_ns.end()) {
    known->second = std::max(known->second, end_ns);
    return;
  }
  const bool seen = std::any_of(device_by_ordinal.begin(), device_by_ordinal.end(),
                                [&](const auto& entry) { return entry.second == device; });
  if (seen) recorded_until_ns.emplace(device, end_ns);
}

std::set<uint32_t> ProcessState::DevicesHeld() const {
  if (device_by_ordinal.size() == 1) return {device_by_ordinal.begin()->second};
  std::set<uint32_t> devices;
  for (const auto& [context, ordinal] : ordinal_by_context) {
    const auto device = device_by_ordinal.find(ordinal);
    if (device != device_by_ordinal.end()) devices.insert(device->second);
  }
  return devices;
}

std::set<uint32_t> ProcessState::DevicesUsed() const {
  if (recorded_until_ns.empty()) return DevicesHeld();
  std::set<uint32_t> devices;
  for (const auto& [device, until_ns] : recorded_until_ns) devices.insert(device);
  return devices;
}

std::optional<uint64_t> ProcessState::HandedOverUntilNs(uint32_t device) const {
  const auto recorded = recorded_until_ns.find(device);
  const uint64_t recorded_ns = recorded != recorded_until_ns.end() ? recorded->second : 0;
  if (end.has_value() && end->has_lost_at_most_ns()) {
    const uint64_t end_ns = end->time_ns();
    return std::max(recorded_ns, end_ns - std::min<uint64_t>(end_ns, end->lost_at_most_ns()));
  }
  if (end.has_value() || !status.has_flushed_until_ns()) return std::nullopt;
  return std::max<uint64_t>(recorded_ns, status.flushed_until_ns());
}

uint64_t ProcessTable::WatermarkNs(uint64_t slack_ns) const {
  while (!live_.empty()) {
    const auto [reached_ns, source] = live_.top();
    const ProcessState& process = *processes_.at(source);
    if (process.live() && process.newest_ns == reached_ns) {
      return reached_ns > slack_ns ? reached_ns - slack_ns : 0;
    }
    live_.pop();
    if (process.live()) live_.emplace(process.newest_ns, source);
  }
  return newest_ns_;
}

}  // namespace utlz
