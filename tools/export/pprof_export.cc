#include "tools/export/pprof_export.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/decode/parse.h"
#include "collector/exact_shares.h"
#include "collector/run/run_intake.h"
#include "collector/text/shown_text.h"
#include "tools/export/gap_times.h"
#include "tools/export/node_stacks.h"
#include "tools/export/pprof_values.h"
#include "tools/export/pprof_writer.h"
#include "tools/export/range_paths.h"
#include "tools/export/work_reader.h"

namespace utlz {
namespace {

// NVTX ranges come after what was launched in them, so they are read first.
void ReadRanges(ProfileReader* reader, RangePaths* paths) {
  ProcessTable processes;
  FrameView frame;
  while (reader->Next(&frame)) {
    if (frame.type != FRAME_STRINGS && frame.type != FRAME_MARKERS) continue;
    ProcessState* process = processes.Get(frame.source);
    if (process == nullptr) continue;
    MarkerBatch markers;
    if (frame.type == FRAME_STRINGS) {
      processes.TakeDescription(frame.type, frame.payload, process);
    } else if (Parse(frame.payload, &markers)) {
      paths->Add(*process, markers);
    }
  }
  paths->Order();
  reader->Rewind();
}

// What the report was made from: whose the nodes of graphs are, and which gaps count how often.
void ReadRun(ProfileReader* reader, NodeStacks* node_stacks, GapTimes* gap_times) {
  RunIntake run;
  FrameView frame;
  while (reader->Next(&frame)) run.Consume(frame.source, frame.type, frame.payload);
  reader->Rewind();
  run.EndOfInput();
  const RunState& state = run.Advance();
  *node_stacks = NodeStacks(state);
  *gap_times = GapTimesOf(state);
}

std::string_view PhaseName(RunPhase phase) {
  switch (phase) {
    case RunPhase::kBefore:
      return "before the steady part";
    case RunPhase::kAfter:
      return "after the steady part";
    default:
      return "steady";
  }
}

class PprofExport {
 public:
  PprofExport(const Summary& summary, const PprofOptions& options, const WorkReader& work,
              const RangePaths& paths)
      : summary_(summary),
        options_(options),
        work_(work),
        paths_(paths),
        values_(summary, options.counters),
        writer_(values_.Types()),
        of_sites_(work.sites().all().size()) {
    for (int i = 0; i < summary.devices_size(); ++i) {
      devices_by_uuid_.try_emplace(summary.devices(i).uuid(), i);
    }
  }

  PprofWriter* Write() {
    Describe();
    DivideKernels();
    DivideIdleTime();
    for (size_t i = 0; i < of_sites_.size(); ++i) WriteSite(i);
    return &writer_;
  }

 private:
  using Sites = std::vector<size_t>;

  const std::pair<WorkSite, WorkSums>& SiteAt(size_t index) const {
    return work_.sites().all()[index];
  }

  void Describe() {
    writer_.SetTime(summary_.run().start_time_ns(), summary_.run().wall_ns());
    writer_.AddComment(absl::StrCat("utlz ", EscapeForTerminal(summary_.run().utlz_version())));
    writer_.AddComment(
        "Time, FLOPs, bytes and launches are of the whole run, as utlz report has them; idle time "
        "is of its steady part, before the next kernel; (idle) is followed by none that was "
        "traced.");
    double time_ns = 0, flops_time_ns = 0, bytes_time_ns = 0;
    for (const KernelSummary& kernel : summary_.kernels()) {
      time_ns += kernel.time_ns();
      if (kernel.has_flops()) flops_time_ns += kernel.time_ns();
      if (kernel.has_dram_bytes()) bytes_time_ns += kernel.time_ns();
    }
    if (time_ns > 0) {
      writer_.AddComment(absl::StrCat("FLOPs are known of ", Percent(flops_time_ns / time_ns),
                                      " of the GPU time, DRAM bytes of ",
                                      Percent(bytes_time_ns / time_ns),
                                      "; of the rest they are 0 "
                                      "here."));
    }
    if (paths_.left_out() > 0) {
      writer_.AddComment(absl::StrCat(paths_.left_out(),
                                      " NVTX ranges did not fit, and are left "
                                      "out."));
    }
  }

  static std::string Percent(double share) { return absl::StrCat(std::llround(100 * share), " %"); }

  void DivideKernels() {
    std::vector<Sites> by_row(static_cast<size_t>(summary_.kernels_size()));
    for (size_t i = 0; i < of_sites_.size(); ++i) {
      const auto& [site, sums] = SiteAt(i);
      if (site.row < by_row.size()) {
        by_row[site.row].push_back(i);
      } else {  // a copy, or a kernel that the report has no row of: as traced
        of_sites_[i].gpu_time_ns = static_cast<int64_t>(sums.time_ns);
        of_sites_[i].launches = static_cast<int64_t>(sums.launches);
      }
    }
    for (size_t row = 0; row < by_row.size(); ++row) DivideKernel(row, by_row[row]);
  }

  void DivideKernel(size_t row, const Sites& sites) {
    const KernelSummary& kernel = summary_.kernels(static_cast<int>(row));
    const PprofValues total = values_.TotalOf(kernel);
    if (sites.empty()) return WriteKernelAlone(kernel, total);
    double time_ns = 0, launches = 0;
    for (const size_t site : sites) {
      time_ns += static_cast<double>(SiteAt(site).second.time_ns);
      launches += static_cast<double>(SiteAt(site).second.launches);
    }
    ExactShares time(total.gpu_time_ns, time_ns), count(total.launches, launches),
        flops(total.flops, launches), bytes(total.dram_bytes, launches);
    for (const size_t site : sites) {
      const WorkSums& sums = SiteAt(site).second;
      const auto weight = static_cast<double>(sums.launches);
      const bool is_last = site == sites.back();
      PprofValues& values = of_sites_[site];
      values.gpu_time_ns = time.Next(static_cast<double>(sums.time_ns), is_last);
      values.launches = count.Next(weight, is_last);
      values.flops = flops.Next(weight, is_last);
      values.dram_bytes = bytes.Next(weight, is_last);
    }
  }

  // The idle time of each GPU, by the gaps that were seen.
  void DivideIdleTime() {
    std::vector<Sites> by_gpu(work_.gpu_uuids().size());
    for (size_t i = 0; i < of_sites_.size(); ++i) {
      if (SiteAt(i).second.idle_before_ns > 0) by_gpu[SiteAt(i).first.gpu].push_back(i);
    }
    for (const DeviceSummary& device : summary_.devices()) {
      const auto total_ns = static_cast<int64_t>(device.idle_time_ns());
      Sites sites;
      double ownerless_ns = 0;
      for (size_t gpu = 0; gpu < by_gpu.size(); ++gpu) {
        if (work_.gpu_uuids()[gpu] != device.uuid()) continue;
        sites.swap(by_gpu[gpu]);
        ownerless_ns = work_.OwnerlessIdleNs(static_cast<uint32_t>(gpu));
      }
      if (sites.empty()) {
        WriteIdleAlone(device, total_ns);
      } else {
        DivideIdle(device, total_ns, ownerless_ns, sites);
      }
    }
  }

  void DivideIdle(const DeviceSummary& device, int64_t total_ns, double ownerless_ns,
                  const Sites& sites) {
    double idle_ns = ownerless_ns;
    for (const size_t site : sites) idle_ns += SiteAt(site).second.idle_before_ns;
    ExactShares idle(total_ns, idle_ns);
    WriteIdleAlone(device, idle.Next(ownerless_ns, false));
    for (const size_t site : sites) {
      const double weight = SiteAt(site).second.idle_before_ns;
      of_sites_[site].idle_time_ns = idle.Next(weight, site == sites.back());
    }
  }

  uint64_t LocationOf(const KernelSummary& kernel) {
    const std::string& name =
        kernel.short_name().empty() ? kernel.mangled_name() : kernel.short_name();
    return writer_.LocationOf({.name = name, .system_name = kernel.mangled_name(), .file = {}});
  }

  std::string DeviceName(const std::string& uuid) const {
    const auto device = devices_by_uuid_.find(uuid);
    if (device == devices_by_uuid_.end()) return "";
    return absl::StrCat(device->second, ": ", summary_.devices(device->second).name());
  }

  void WriteKernelAlone(const KernelSummary& kernel, const PprofValues& values) {
    const uint64_t location = LocationOf(kernel);
    WriteSample({&location, 1}, values, DeviceName(kernel.device_uuid()), {});
  }

  void WriteIdleAlone(const DeviceSummary& device, int64_t idle_time_ns) {
    const uint64_t location = writer_.LocationOf({.name = "(idle)", .system_name = {}, .file = {}});
    PprofValues values;
    values.idle_time_ns = idle_time_ns;
    WriteSample({&location, 1}, values, DeviceName(device.uuid()), {});
  }

  void WriteSite(size_t index) {
    const WorkSite& site = SiteAt(index).first;
    std::vector<uint64_t> locations;
    if (site.row != WorkReader::kNoRow) {
      locations.push_back(LocationOf(summary_.kernels(static_cast<int>(site.row))));
    } else {
      locations.push_back(
          writer_.LocationOf({.name = work_.NameOf(site), .system_name = {}, .file = {}}));
    }
    AddStack(site.stack, &locations);
    for (const std::string& range : paths_.NamesOf(site.path)) {
      locations.push_back(writer_.LocationOf({.name = range, .system_name = {}, .file = {}}));
    }
    std::string process;
    if (const Process* info = work_.ProcessOf(site.source); info != nullptr) {
      const std::string& path = info->executable();
      process = absl::StrCat(path.substr(path.rfind('/') + 1), " ", info->pid());
    }
    std::vector<PprofLabel> labels = {{"process", process}, {"phase", PhaseName(site.phase)}};
    if (site.inferred) labels.push_back({"owner", "inferred"});
    if (site.stream != WorkSite::kAnyStream) labels.push_back({"stream", {}, site.stream});
    WriteSample(locations, of_sites_[index], DeviceName(work_.gpu_uuids()[site.gpu]),
                std::move(labels));
  }

  // A module by its path and class, as far as they are known.
  static std::string NameOf(const StackFrame& frame) {
    if (frame.name.empty() && !frame.module_class.empty()) return frame.module_class;
    if (frame.kind == STACK_FRAME_XLA_INSTRUCTION && frame.name.empty()) return "(XLA)";
    if (frame.name.empty()) return std::string(FileName(frame.file));
    if (frame.kind != STACK_FRAME_MODULE || frame.module_class.empty()) return frame.name;
    return frame.name == frame.module_class
               ? frame.name
               : absl::StrCat(frame.name, " (", frame.module_class, ")");
  }

  // Innermost first: functions, the modules that they are called for, and instructions of XLA by
  // their operations, so that those of several instructions are summed.
  void AddStack(uint32_t stack, std::vector<uint64_t>* locations) {
    const StackTable& stacks = work_.stacks();
    for (; stack != kNoStack; stack = stacks.ParentOf(stack)) {
      const StackFrame& frame = stacks.FrameOf(stack);
      const bool is_instruction = frame.kind == STACK_FRAME_XLA_INSTRUCTION;
      const std::string name = NameOf(frame);
      locations->push_back(writer_.LocationOf(
          {.name = name,
           .system_name =
               is_instruction ? std::string_view(frame.module_class) : std::string_view(),
           .file = options_.paths ? std::string_view(frame.file) : FileName(frame.file),
           .line = frame.line}));
    }
  }

  static std::string_view FileName(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
  }

  void WriteSample(std::span<const uint64_t> locations, const PprofValues& values,
                   const std::string& device, std::vector<PprofLabel> labels) {
    if (values.empty()) return;
    if (!device.empty()) labels.push_back({"device", device});
    writer_.AddSample(locations, values_.ValuesOf(values), labels);
  }

  const Summary& summary_;
  const PprofOptions& options_;
  const WorkReader& work_;
  const RangePaths& paths_;
  PprofValueSet values_;
  PprofWriter writer_;
  std::vector<PprofValues> of_sites_;  // as WorkSites
  std::map<std::string, int> devices_by_uuid_;
};

}  // namespace

TraceExportResult WritePprof(const Summary& summary, const PprofOptions& options,
                             ProfileReader* reader, std::ostream* out) {
  RangePaths paths;
  ReadRanges(reader, &paths);
  NodeStacks node_stacks;
  GapTimes gap_times;
  ReadRun(reader, &node_stacks, &gap_times);
  WorkReader work(summary, gap_times, &paths, &node_stacks);
  FrameView frame;
  while (reader->Next(&frame)) work.Consume(frame.source, frame.type, frame.payload);
  work.Finish();
  PprofExport(summary, options, work, paths).Write()->Write(out);
  TraceExportResult result;
  result.kernels = work.counts().kernels;
  result.copies = work.counts().copies;
  result.markers = paths.size();
  result.frames_refused = work.counts().frames_refused;
  return result;
}

}  // namespace utlz
