#include "bench/diagnosis/program_drafts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/planting.h"
#include "bench/diagnosis/step_parts.h"

namespace utlz {
namespace {

using MaybeDraft = std::optional<Draft>;

double SumNs(const Draft& draft, const std::vector<Step>& steps) {
  double sum_ns = 0;
  for (const Step& step : steps) sum_ns += StepNs(draft, step);
  return sum_ns;
}

// Levels: the mean of all steps, and where `usual_ns` is more than 0, the time of most parts.
void SetSteps(std::vector<Step> steps, double usual_ns, Draft* draft) {
  const double mean_ns = SumNs(*draft, steps) / static_cast<double>(steps.size());
  draft->levels = {{.steps = steps.size(), .step_ns = mean_ns}};
  if (usual_ns > 0) {
    draft->levels.push_back({.steps = steps.size(), .step_ns = usual_ns, .usual = true});
  }
  draft->steps_per_call = 1;
  draft->usual_step_ns = 0;
  draft->ranks.assign(1, std::move(steps));
}

Item PinnedCopy(CopyKind kind, double time_ns) {
  return Copy(kind, time_ns, time_ns * kPinnedBytesPerNs);
}

// Activations are computed again, a quarter of the network at a time (gradient checkpointing).
MaybeDraft Recomputation(const Recordings& recordings) {
  constexpr size_t kParts = 4;
  MaybeDraft draft = HealthyDraft("training", recordings);
  if (!draft.has_value()) return draft;
  const Step whole = draft->FirstStep();
  Step step = Forward(whole);
  for (size_t part = 0; part < kParts; ++part) {
    Append(Part(Forward(whole), kParts - 1 - part, kParts), &step);
    Append(Part(Backward(whole), part, kParts), &step);
  }
  Append(Optimizer(whole), &step);
  SetSteps(std::vector<Step>(400, step), 0, &*draft);
  return draft;
}

// After each tenth step another model judges what was learned.
MaybeDraft OtherEvaluation(const Recordings& recordings) {
  constexpr size_t kBatches = 8;
  MaybeDraft draft = HealthyDraft("training", recordings);
  const MaybeDraft judge = HealthyDraft("convolutions", recordings);
  if (!draft.has_value() || !judge.has_value()) return std::nullopt;
  const Step whole = draft->FirstStep();
  const Step batch = Imported(Forward(judge->FirstStep()), judge->run, &draft->run);
  std::vector<Step> steps(400, whole);
  for (size_t i = 9; i < steps.size(); i += 10) {
    for (size_t n = 0; n < kBatches; ++n) Append(batch, &steps[i]);
  }
  SetSteps(std::move(steps), StepNs(*draft, whole), &*draft);
  return draft;
}

// One launch of a graph is eight training steps: a scan.
MaybeDraft Scan(const Recordings& recordings) {
  constexpr size_t kTurns = 8;
  MaybeDraft draft = HealthyDraft("training", recordings);
  if (!draft.has_value()) return draft;
  draft->run.graphs = true;
  draft->turnaround_ns = 700;
  const Step whole = draft->FirstStep();
  Step step;
  for (size_t turn = 0; turn < kTurns; ++turn) Append(whole, &step);
  SetSteps(std::vector<Step>(60, step), 0, &*draft);
  draft->levels.push_back({.steps = 60 * kTurns, .step_ns = StepNs(*draft, whole)});
  return draft;
}

// One kernel after the other, in no order, on arrays of all sizes.
MaybeDraft AnalysisScript(const Recordings& recordings) {
  MaybeDraft draft = HealthyDraft("training", recordings);
  if (!draft.has_value()) return draft;
  Chance chance;
  std::vector<uint32_t> kernels;
  for (const Item& item : draft->FirstStep()) {
    if (std::find(kernels.begin(), kernels.end(), item.kernel) == kernels.end()) {
      kernels.push_back(item.kernel);
    }
  }
  Step script = {PinnedCopy(COPY_HOST_TO_DEVICE, 30e6)};
  for (int i = 0; i < 600; ++i) {
    const auto place = static_cast<size_t>(chance.Next() * static_cast<double>(kernels.size()));
    const uint32_t kernel = kernels[std::min(place, kernels.size() - 1)];
    const double larger = std::exp(5 * chance.Next());
    script.push_back({.kernel = kernel,
                      .time_ns = larger * draft->run.kernels[kernel].time_ns,
                      .work_share = larger});
  }
  script.push_back(PinnedCopy(COPY_DEVICE_TO_HOST, 2e6));
  draft->ranks.assign(1, {script});
  draft->has_steps = false;
  return draft;
}

// Weights are read from files and copied, kernels are loaded one by one, something is compiled: 60
// % of the run is over when the first step begins.
MaybeDraft LongStart(const Recordings& recordings) {
  MaybeDraft draft = HealthyDraft("training", recordings);
  if (!draft.has_value()) return draft;
  const Step whole = draft->FirstStep();
  constexpr double kWeightsNs = 25e6;
  for (int file = 0; file < 40; ++file) {
    Append(
        {Copy(COPY_HOST_TO_DEVICE, kWeightsNs, kWeightsNs * kPageableBytesPerNs, true), Gap(220e6)},
        &draft->start_up);
  }
  for (size_t i = 0; i < 30; ++i)
    Append({whole[i * whole.size() / 30], Gap(90e6)}, &draft->start_up);
  draft->start_up.push_back(Gap(9e6 * 1e3));
  SetSteps(std::vector<Step>(1000, whole), 0, &*draft);
  return draft;
}

// A small model proposes three to six tokens one by one; the large one verifies them at once.
MaybeDraft Speculation(const Recordings& recordings) {
  MaybeDraft draft = HealthyDraft("generation", recordings);
  if (!draft.has_value()) return draft;
  const Step verification = draft->ranks[0][0];
  const Step proposal = Part(draft->ranks[0][1], 0, 6);
  Chance chance;
  std::vector<Step> rounds(600);
  for (Step& round : rounds) {
    const auto tokens = static_cast<size_t>(3 + 4 * chance.Next());
    for (size_t i = 0; i < tokens; ++i) Append(proposal, &round);
    Append(verification, &round);
    round.push_back(Copy(COPY_DEVICE_TO_HOST, 2e3, 32));
  }
  SetSteps(std::move(rounds), StepNs(*draft, proposal), &*draft);
  return draft;
}

// Two answers are generated, then eight steps learn from them.
MaybeDraft Reinforcement(const Recordings& recordings) {
  constexpr size_t kTokens = 128;
  constexpr size_t kLearning = 8;
  MaybeDraft draft = HealthyDraft("generation", recordings);
  const MaybeDraft training = HealthyDraft("training", recordings);
  if (!draft.has_value() || !training.has_value()) return std::nullopt;
  const Step learning = Imported(training->FirstStep(), training->run, &draft->run);
  const std::vector<Step> tokens = draft->ranks[0];
  Step turn;
  for (size_t i = 0; i < kTokens; ++i) Append(tokens[i], &turn);
  for (size_t i = 0; i < kLearning; ++i) Append(learning, &turn);
  SetSteps(std::vector<Step>(30, turn), StepNs(*draft, tokens[32]), &*draft);
  draft->levels.push_back(
      {.steps = 30 * kLearning, .step_ns = StepNs(*draft, learning), .usual = true});
  return draft;
}

// Tokens for all requests; in each third turn a part of a prompt is read as well.
MaybeDraft ChunkedPrefill(const Recordings& recordings) {
  MaybeDraft draft = HealthyDraft("generation", recordings);
  if (!draft.has_value()) return draft;
  const Step chunk = draft->ranks[0][0];
  const Step token = draft->ranks[0][1];
  Chance chance;
  std::vector<Step> turns;
  for (int i = 0; i < 1500; ++i) {
    const bool reads = chance.Next() < 0.35;
    turns.push_back(reads ? Larger(chunk, 0.5 + chance.Next()) : token);
  }
  SetSteps(std::move(turns), StepNs(*draft, token), &*draft);
  return draft;
}

// Fifty calls of one network make an image, which another one decodes, and a copy takes away.
MaybeDraft Diffusion(const Recordings& recordings) {
  constexpr size_t kCalls = 50;
  MaybeDraft draft = HealthyDraft("training", recordings);
  const MaybeDraft decoder = HealthyDraft("convolutions", recordings);
  if (!draft.has_value() || !decoder.has_value()) return std::nullopt;
  const Step call = Forward(draft->FirstStep());
  const Step decoding = Imported(Forward(decoder->FirstStep()), decoder->run, &draft->run);
  Step image;
  for (size_t i = 0; i < kCalls; ++i) Append(call, &image);
  Append(Larger(decoding, 4), &image);
  image.push_back(PinnedCopy(COPY_DEVICE_TO_HOST, 120e3));
  SetSteps(std::vector<Step>(40, image), StepNs(*draft, call), &*draft);
  return draft;
}

// One image a request, 30 ms between requests on average, as they come. Nothing is slow.
MaybeDraft QuietServer(const Recordings& recordings) {
  MaybeDraft draft = HealthyDraft("convolutions", recordings);
  if (!draft.has_value()) return draft;
  Step request = {PinnedCopy(COPY_HOST_TO_DEVICE, 25e3)};
  Append(Forward(draft->FirstStep()), &request);
  request.push_back(Copy(COPY_DEVICE_TO_HOST, 2e3, 4000));
  const double request_ns = StepNs(*draft, request);
  Chance chance;
  std::vector<Step> requests(500, request);
  for (Step& one : requests) one.push_back(Gap(-30e6 * std::log(1 - chance.Next())));
  SetSteps(std::move(requests), request_ns, &*draft);
  draft->busy_known = false;
  return draft;
}

struct Program {
  const char* name;
  MaybeDraft (*make)(const Recordings& recordings);
};

constexpr Program kPrograms[] = {
    {"recomputation", Recomputation},
    {"other_evaluation", OtherEvaluation},
    {"scan", Scan},
    {"analysis_script", AnalysisScript},
    {"long_start", LongStart},
    {"speculation", Speculation},
    {"reinforcement", Reinforcement},
    {"chunked_prefill", ChunkedPrefill},
    {"diffusion", Diffusion},
    {"quiet_server", QuietServer},
};

}  // namespace

std::optional<Draft> ProgramDraft(std::string_view name, const Recordings& recordings) {
  for (const Program& program : kPrograms) {
    if (name == program.name) return program.make(recordings);
  }
  return std::nullopt;
}

const std::vector<const char*>& ProgramLoads() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<const char*>;
    for (const Program& program : kPrograms) names->push_back(program.name);
    return names;
  }();
  return *kNames;
}

}  // namespace utlz
