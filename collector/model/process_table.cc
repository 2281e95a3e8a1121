#include "collector/model/process_table.h"

#include <algorithm>

#include "collector/model/launch_decoder.h"
#include "proto/valid_text.h"

namespace utlz {
namespace {

// A column is absent (all zero) or as long as the names.
template <typename Column>
bool FitsOrAbsent(const Column& column, int expected) {
  return column.empty() || column.size() == expected;
}

template <typename Column>
auto ValueAt(const Column& column, int index) {
  return column.empty() ? typename Column::value_type{} : column.Get(index);
}

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
         FitsOrAbsent(message.graph_node(), count) && FitsOrAbsent(message.flags(), count);
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
          .graph_node = ValueAt(message.graph_node(), i)};
}

}  // namespace

ProcessState* ProcessTable::Get(uint32_t source) {
  const auto found = processes_.find(source);
  if (found != processes_.end()) return found->second.get();
  if (processes_.size() >= kMaxProcesses) return nullptr;
  auto process = std::make_unique<ProcessState>();
  process->source = source;
  return processes_.emplace(source, std::move(process)).first->second.get();
}

bool ProcessTable::AddStrings(ProcessState* process, const Strings& message) {
  const uint64_t end = uint64_t{message.first()} + static_cast<uint64_t>(message.values_size());
  if (end > kMaxStringIds) return false;
  size_t bytes = 0;
  for (const std::string& value : message.values()) bytes += value.size();
  if (string_bytes_ + bytes > kMaxStringBytes) return false;
  string_bytes_ += bytes;
  if (process->strings.size() < end) process->strings.resize(end);
  for (int i = 0; i < message.values_size(); ++i) {
    const size_t id = message.first() + static_cast<size_t>(i);
    if (id == 0) continue;
    std::string& text = process->strings[id] = message.values(i);
    MakeValidUtf8(text.data(), text.size());
  }
  return true;
}

bool ProcessTable::AddVariants(ProcessState* process, const Variants& message) {
  const uint64_t end = uint64_t{message.first()} + static_cast<uint64_t>(message.name_size());
  if (end > kMaxVariantIds || !ColumnsAgree(message)) return false;
  const size_t before = process->variants.size();
  const size_t grown = end > before ? end - before : 0;
  if (variants_ + grown > kMaxVariants) return false;
  variants_ += grown;
  process->variants.resize(before + grown);
  for (int i = 0; i < message.name_size(); ++i) {
    process->variants[message.first() + static_cast<size_t>(i)] = ShapeAt(message, i);
  }
  return true;
}

bool ProcessTable::AddContext(ProcessState* process, const Context& message) {
  if (process->ordinal_by_context.size() >= kMaxContexts &&
      !process->ordinal_by_context.contains(message.id())) {
    return false;
  }
  process->ordinal_by_context[message.id()] = message.device_ordinal();
  return true;
}

std::optional<uint64_t> ProcessState::HandedOverUntilNs() const {
  if (end.has_value() && end->has_lost_at_most_ns()) {
    return end->time_ns() - std::min<uint64_t>(end->time_ns(), end->lost_at_most_ns());
  }
  if (end.has_value() || !status.has_flushed_until_ns()) return std::nullopt;
  return status.flushed_until_ns();
}

uint64_t ProcessTable::WatermarkNs(uint64_t slack_ns) const {
  uint64_t slowest_ns = UINT64_MAX;
  uint64_t newest_ns = 0;
  for (const auto& [source, process] : processes_) {
    if (process->live()) slowest_ns = std::min(slowest_ns, process->newest_ns);
    newest_ns = std::max(newest_ns, process->newest_ns);
  }
  if (slowest_ns == UINT64_MAX) return newest_ns;
  return slowest_ns > slack_ns ? slowest_ns - slack_ns : 0;
}

}  // namespace utlz
