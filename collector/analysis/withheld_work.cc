#include "collector/analysis/withheld_work.h"

#include <algorithm>
#include <cmath>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// Bytes with a larger relative error say nothing, unless even the error is little against the roof:
// then the kernel plainly moves next to nothing.
constexpr double kWithholdError = 0.5;
constexpr double kNegligibleRoofShare = 0.05;

// One standard error of a sum, as a share of it.
struct Sum {
  double value = 0;
  double variance = 0;

  void Add(double more, double error) {
    value += more;
    variance += error * error;
  }
  double ErrorShare() const { return value > 0 ? std::sqrt(variance) / value : 0; }
};

Sum BytesOf(const KernelWork& work) {
  Sum bytes;
  for (const auto& part : {work.read_bytes, work.write_bytes}) {
    if (part.has_value()) bytes.Add(part->value, part->error);
  }
  return bytes;
}

Sum TensorFlopsOf(const KernelWork& work) {
  Sum flops;
  for (const TypedFlops& typed : work.flops) {
    if (!typed.by_pipe) flops.Add(typed.flops, typed.error);
  }
  return flops;
}

void Withhold(const char* why, KernelRow* row) {
  row->withheld = why;
  for (RooflineWork* roofline : {&row->roofline, &row->attained}) {
    roofline->compute_time_ns.reset();
    roofline->memory_time_ns.reset();
    roofline->other_compute_time_ns = 0;
    roofline->flops_missing = true;
  }
}

bool IsMostlyError(const Sum& bytes, double launches, double roof_bytes) {
  const double error = std::sqrt(bytes.variance) * launches;
  return error > kWithholdError * bytes.value * launches &&
         error > kNegligibleRoofShare * roof_bytes;
}

// Whether a launch would need longer at the peak than it took, by more than the error.
bool IsImpossible(double time_at_peak_ns, double time_ns, const Sum& work) {
  return time_ns > 0 && time_at_peak_ns > time_ns * (1 + work.ErrorShare());
}

// Whether FLOPs that may be none may also be more than the GPU can do: then nothing is known of
// them.
bool SaysNothing(const Ceilings& ceilings, const KernelRow& row) {
  const double margin = kNormal95 * TensorFlopsOf(row.work).ErrorShare();
  if (margin < 1) return false;
  double time_at_peak_ns = 0;
  for (const TypedFlops& typed : row.work.flops) {
    const auto peak = ceilings.FlopsPerSecond(typed.data_type);
    if (typed.by_pipe || !peak.has_value() || *peak <= 0) continue;
    time_at_peak_ns += typed.flops * row.launches / *peak * 1e9;
  }
  return time_at_peak_ns * (1 + margin) > row.time_ns;
}

// They stay a part of the device's sum, in which such errors cancel.
void MarkFlopsUncertain(KernelRow* row) {
  row->flops_uncertain = true;
  for (RooflineWork* roofline : {&row->roofline, &row->attained}) {
    roofline->compute_time_ns.reset();
    roofline->other_compute_time_ns = 0;
    roofline->flops_missing = true;
  }
}

void CutToTime(double time_ns, std::optional<double>* at_roof_ns) {
  if (at_roof_ns->has_value()) **at_roof_ns = std::min(**at_roof_ns, time_ns);
}

}  // namespace

void WithholdUncertain(const Ceilings& ceilings, KernelRow* row) {
  if (row->roofline.communication) return;
  if (SaysNothing(ceilings, *row)) MarkFlopsUncertain(row);
  const Sum bytes = BytesOf(row->work);
  const bool both = row->work.read_bytes.has_value() && row->work.write_bytes.has_value();
  const double roof_bytes = ceilings.dram_bytes_per_second * row->time_ns * 1e-9;
  RooflineWork& roofline = row->roofline;
  const double tensor_ns = roofline.compute_time_ns.value_or(0) - roofline.other_compute_time_ns;
  if (both && IsMostlyError(bytes, row->launches, roof_bytes)) {
    return Withhold("too few counter samples fell in it: the error exceeds half of the bytes", row);
  }
  if (IsImpossible(roofline.memory_time_ns.value_or(0), row->time_ns, bytes)) {
    row->work.read_bytes.reset();
    row->work.write_bytes.reset();
    return Withhold("more bytes than the memory can move: its launches do different work", row);
  }
  if (IsImpossible(tensor_ns, row->time_ns, TensorFlopsOf(row->work))) {
    row->work.flops.clear();
    return Withhold("more FLOPs than the GPU can do: its launches do different work", row);
  }
  CutToTime(row->time_ns, &roofline.memory_time_ns);
  CutToTime(row->time_ns, &roofline.compute_time_ns);
  if (roofline.compute_time_ns.has_value()) {
    roofline.other_compute_time_ns =
        std::min(roofline.other_compute_time_ns, *roofline.compute_time_ns);
  }
}

}  // namespace utlz
