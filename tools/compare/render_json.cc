#include <cmath>
#include <nlohmann/json.hpp>

#include "collector/text/shown_text.h"
#include "tools/compare/render_difference.h"

namespace utlz {
namespace {

using Json = nlohmann::ordered_json;

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kNoDifference:
      return "no_difference";
    case Verdict::kDecrease:
      return "decrease";
    case Verdict::kIncrease:
      return "increase";
    case Verdict::kAppeared:
      return "appeared";
    case Verdict::kGone:
      return "gone";
  }
  return "unknown";
}

std::string_view MatchName(MatchedBy by) {
  switch (by) {
    case MatchedBy::kNameAndShape:
      return "name_and_shape";
    case MatchedBy::kName:
      return "name";
    case MatchedBy::kRole:
      return "role";
    case MatchedBy::kNothing:
      return "nothing";
  }
  return "nothing";
}

std::string_view OutcomeName(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass:
      return "pass";
    case GateOutcome::kRegression:
      return "regression";
    case GateOutcome::kRefused:
      return "refused";
    case GateOutcome::kOtherProgram:
      return "other_program";
    case GateOutcome::kInconclusive:
      return "inconclusive";
  }
  return "refused";
}

void Set(Json& object, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[name] = *value;
}

Json ChangeJson(const Change& change) {
  Json object = Json::object();
  Set(object, "before", change.before);
  Set(object, "after", change.after);
  Set(object, "delta", change.Delta());
  Set(object, "relative_delta", change.RelativeDelta());
  Set(object, "error", change.error);
  Set(object, "probability", change.probability);
  object["verdict"] = VerdictName(change.verdict);
  return object;
}

bool IsKnown(const Change& change) { return change.before || change.after; }

Json KernelJson(const KernelChange& kernel) {
  Json object = Json::object();
  object["matched_by"] = MatchName(kernel.matched_by);
  if (!kernel.name_before.empty()) {
    object["name_before"] = kernel.name_before;
    object["shape_before"] = kernel.shape_before;
  }
  if (!kernel.name_after.empty()) {
    object["name_after"] = kernel.name_after;
    object["shape_after"] = kernel.shape_after;
  }
  object["time_ns"] = ChangeJson(kernel.time_ns);
  if (IsKnown(kernel.time_mean_ns)) object["time_mean_ns"] = ChangeJson(kernel.time_mean_ns);
  if (IsKnown(kernel.launches)) object["launches"] = ChangeJson(kernel.launches);
  if (IsKnown(kernel.flops)) object["flops"] = ChangeJson(kernel.flops);
  if (IsKnown(kernel.dram_bytes)) object["dram_bytes"] = ChangeJson(kernel.dram_bytes);
  return object;
}

Json LayersJson(const Difference& difference) {
  Json layers = Json::array();
  for (const LayerChange& layer : difference.layers) {
    layers.push_back({{"model", layer.model},
                      {"name", layer.name},
                      {"stands_out", layer.stands_out},
                      {"time_ns", ChangeJson(layer.time_ns)}});
  }
  return layers;
}

Json RepeatedLayersJson(const Difference& difference) {
  Json layers = Json::array();
  for (const RepeatedLayerChange& layer : difference.repeated_layers) {
    layers.push_back({{"model", layer.model},
                      {"name", layer.name},
                      {"instances_before", layer.instances_before},
                      {"instances_after", layer.instances_after},
                      {"time_ns", ChangeJson(layer.time_ns)}});
  }
  return layers;
}

Json DifferenceJson(const Difference& difference) {
  Json object = Json::object();
  object["schema"] = "utlz.difference/1";
  object["verdict"] = difference.verdict;
  object["different"] = difference.HasDifference();
  object["per_step"] = difference.per_step;
  object["runs_before"] = difference.runs_before;
  object["runs_after"] = difference.runs_after;
  object["caveats"] = difference.caveats;
  object["quantities"] = Json::array();
  for (const QuantityChange& quantity : difference.quantities) {
    object["quantities"].push_back({{"name", quantity.name},
                                    {"unit", quantity.unit},
                                    {"more_is_better", quantity.more_is_better},
                                    {"change", ChangeJson(quantity.change)}});
  }
  object["slices"] = Json::array();
  for (const SliceChange& slice : difference.slices) {
    object["slices"].push_back({{"name", slice.name}, {"time_ns", ChangeJson(slice.time_ns)}});
  }
  object["kernels"] = Json::array();
  for (const KernelChange& kernel : difference.kernels) {
    object["kernels"].push_back(KernelJson(kernel));
  }
  if (!difference.layers.empty()) {
    object["layers"] = LayersJson(difference);
    object["repeated_layers"] = RepeatedLayersJson(difference);
  }
  return object;
}

// Names are a program's bytes and may be no UTF-8: what is broken is replaced.
std::string Dump(const Json& object) {
  return EscapeInJson(object.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string RenderDifferenceJson(const Difference& difference) {
  return Dump(DifferenceJson(difference));
}

std::string RenderGateJson(const GateResult& result) {
  Json object = Json::object();
  object["schema"] = "utlz.gate/1";
  object["outcome"] = OutcomeName(result.outcome);
  object["exit_status"] = GateExitStatus(result.outcome);
  object["reasons"] = result.reasons;
  if (!result.measure.empty()) {
    object["measure"] = result.measure;
    object["change"] = ChangeJson(result.change);
  }
  if (HasDifference(result.outcome)) {
    object["difference"] = DifferenceJson(result.difference);
  }
  return Dump(object);
}

}  // namespace utlz
