// Recordings with something wrong in them: attribution_check says no, or warns, or its figures are
// right all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/attribution/scratch_files.h"
#include "tools/attribution_check/attribution_score.h"
#include "tools/attribution_check/capture.h"
#include "tools/attribution_check/reference.h"
#include "tools/attribution_check/score_text.h"

namespace utlz {
namespace {

constexpr int64_t kBeginNs = 1'000'000'000;
constexpr int64_t kSampleNs = 5'000;
constexpr int kSteps = 400;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct LaunchRow {
  int64_t start_ns, end_ns;
  uint64_t name;
  uint32_t grid;
};

struct SampleRow {
  int64_t start_ns, end_ns;
  double read, write, tensor_percent;
};

struct Rows {
  std::vector<LaunchRow> launches;
  std::vector<SampleRow> samples;
};

// Two kernels in turn: one of 12 us that reads 6 MB, one of 7 us that reads 700 KB.
struct Kernel {
  int64_t duration_ns;
  double bytes_per_ns;
};
constexpr std::array<Kernel, 2> kKernels = {{{12'000, 500}, {7'000, 100}}};

Rows Recorded() {
  Rows rows;
  std::mt19937_64 random(3);
  std::vector<double> read;
  int64_t now_ns = kBeginNs + 20'000;
  const auto work = [&](int64_t from_ns, int64_t to_ns, double per_ns) {
    for (int64_t at = from_ns; at < to_ns;) {
      const auto index = static_cast<size_t>((at - kBeginNs) / kSampleNs);
      const int64_t end_ns =
          std::min(to_ns, kBeginNs + static_cast<int64_t>(index + 1) * kSampleNs);
      if (read.size() <= index) read.resize(index + 1);
      read[index] += per_ns * static_cast<double>(end_ns - at);
      at = end_ns;
    }
  };
  for (int step = 0; step < kSteps; ++step) {
    for (uint64_t name = 0; name < kKernels.size(); ++name) {
      const Kernel& kernel = kKernels[name];
      rows.launches.push_back({now_ns, now_ns + kernel.duration_ns, name, 8});
      work(now_ns, now_ns + kernel.duration_ns, kernel.bytes_per_ns);
      now_ns += kernel.duration_ns + 2'000 + static_cast<int64_t>(random() % 1'000);
    }
  }
  rows.samples.push_back({0, 0, 1e18, 1e18, 1e9});  // the first, which is garbage
  for (size_t i = 0; i < read.size(); ++i) {
    const int64_t start_ns = kBeginNs + static_cast<int64_t>(i) * kSampleNs;
    rows.samples.push_back({start_ns, start_ns + kSampleNs, read[i], 0.1 * read[i], 10});
  }
  return rows;
}

std::string LaunchText(const Rows& rows) {
  std::string text;
  for (const LaunchRow& row : rows.launches) {
    absl::StrAppend(&text, row.start_ns, " ", row.end_ns, " ", row.name, " ", row.grid, " 1 1 0\n");
  }
  return text;
}

std::string SampleText(const Rows& rows) {
  std::string text;
  for (const SampleRow& row : rows.samples) {
    absl::StrAppend(&text, row.start_ns, " ", row.end_ns, " ", row.read, " ", row.write, " ",
                    row.tensor_percent, " 1 9000\n");
  }
  return text;
}

std::string ReferenceText() {
  std::string text =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  for (size_t i = 0; i < kKernels.size(); ++i) {
    const double read = kKernels[i].bytes_per_ns * static_cast<double>(kKernels[i].duration_ns);
    const std::string row = absl::StrCat("\"", i, "\",\"kernel_", i, "\",\"(8, 1, 1)\",");
    absl::StrAppend(&text, row, "\"dram__bytes_read.sum\",\"byte\",\"", read, "\"\n");
    absl::StrAppend(&text, row, "\"dram__bytes_write.sum\",\"byte\",\"", 0.1 * read, "\"\n");
  }
  return text;
}

absl::StatusOr<AttributionScore> ScoreTexts(const std::string& launches, const std::string& samples,
                                            const std::string& reference) {
  const ScratchFiles files;
  files.Write("hostile.names.gz", "kernel_0\nkernel_1\nkernel_2\n");
  files.Write("hostile.k.gz", launches);
  files.Write("hostile.pm.gz", samples);
  const auto capture = ReadCapture(files.Path("hostile"));
  if (!capture.ok()) return capture.status();
  const auto launches_of_a_step = ReadReference({files.Write("hostile.csv", reference)});
  if (!launches_of_a_step.ok()) return launches_of_a_step.status();
  return ScoreAttribution(*capture, *launches_of_a_step, TensorPeak{});
}

absl::StatusOr<AttributionScore> Score(const Rows& rows) {
  return ScoreTexts(LaunchText(rows), SampleText(rows), ReferenceText());
}

// Each number of the JSON is one, and what an interval does not hold has a warning.
void ExpectRightOrMarked(const AttributionScore& score, const std::string& what) {
  const nlohmann::json json = nlohmann::json::parse(ScoreJson(score), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << what;
  EXPECT_FALSE(ScoreTable(score).empty());
  for (const KernelScore& kernel : score.kernels) {
    EXPECT_TRUE(std::isfinite(kernel.bytes) && kernel.bytes >= 0) << what;
    EXPECT_TRUE(std::isfinite(kernel.half_width_bytes)) << what;
    if (std::abs(kernel.bytes - kernel.reference_bytes) <= kernel.half_width_bytes) continue;
    EXPECT_FALSE(score.warnings.empty()) << what << ": " << kernel.key.name << " has "
                                         << kernel.bytes << " of " << kernel.reference_bytes;
  }
}

struct Damage {
  const char* name;
  std::function<void(Rows*)> apply;
};

template <typename Row>
void EverySoMany(std::vector<Row>* rows, const std::function<void(Row*)>& change) {
  for (size_t i = 41; i < rows->size(); i += 97) change(&(*rows)[i]);
}

std::function<void(Rows*)> Launches(std::function<void(LaunchRow*)> change) {
  return [change](Rows* rows) { EverySoMany<LaunchRow>(&rows->launches, change); };
}

std::function<void(Rows*)> Samples(std::function<void(SampleRow*)> change) {
  return [change](Rows* rows) { EverySoMany<SampleRow>(&rows->samples, change); };
}

// From the middle on.
std::function<void(Rows*)> Jump(int64_t launches_ns, int64_t samples_ns) {
  return [=](Rows* rows) {
    for (size_t i = rows->launches.size() / 2; i < rows->launches.size(); ++i) {
      rows->launches[i].start_ns += launches_ns;
      rows->launches[i].end_ns += launches_ns;
    }
    for (size_t i = rows->samples.size() / 2; i < rows->samples.size(); ++i) {
      rows->samples[i].start_ns += samples_ns;
      rows->samples[i].end_ns += samples_ns;
    }
  };
}

std::vector<Damage> Damages() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  return {
      {"nothing", [](Rows*) {}},
      {"not a number", Samples([=](SampleRow* row) { row->read = kNan; })},
      {"infinite", Samples([=](SampleRow* row) { row->tensor_percent = kInfinite; })},
      {"negative", Samples([](SampleRow* row) { row->write = -1; })},
      {"wrapped at 64 bits", Samples([](SampleRow* row) { row->read += 18446744073709551616.0; })},
      {"wrapped at 32 bits", Samples([](SampleRow* row) { row->read -= 4294967296.0; })},
      {"only not a number",
       [=](Rows* rows) {
         for (SampleRow& row : rows->samples) row.read = kNan;
       }},
      {"only zero",
       [](Rows* rows) {
         for (SampleRow& row : rows->samples) row.read = row.write = 0;
       }},
      {"samples end last", Samples([](SampleRow* row) { row->end_ns = kMost; })},
      {"samples start first", Samples([](SampleRow* row) { row->start_ns = kLeast; })},
      {"samples lie last", Samples([](SampleRow* row) {
         *row = {kMost - 5, kMost, 1, 1, 1};
       })},
      {"samples of no length", Samples([](SampleRow* row) { row->end_ns = row->start_ns; })},
      {"samples a millisecond early",
       Samples([](SampleRow* row) { row->start_ns -= 1'000'000, row->end_ns -= 1'000'000; })},
      {"launches end last", Launches([](LaunchRow* row) { row->end_ns = kMost; })},
      {"launches start first", Launches([](LaunchRow* row) { row->start_ns = kLeast; })},
      {"launches last for ever",
       Launches([](LaunchRow* row) { row->start_ns = kLeast, row->end_ns = kMost; })},
      {"launches of no length", Launches([](LaunchRow* row) { row->end_ns = row->start_ns; })},
      {"launches end before they start",
       Launches([](LaunchRow* row) { std::swap(row->start_ns, row->end_ns); })},
      {"launches without times", Launches([](LaunchRow* row) { row->start_ns = row->end_ns = 0; })},
      {"doubled launches",
       [](Rows* rows) {
         const std::vector<LaunchRow> launches = rows->launches;
         rows->launches.insert(rows->launches.end(), launches.begin(), launches.end());
       }},
      {"doubled samples",
       [](Rows* rows) {
         const std::vector<SampleRow> samples = rows->samples;
         rows->samples.insert(rows->samples.end(), samples.begin(), samples.end());
       }},
      {"shuffled",
       [](Rows* rows) {
         std::mt19937_64 random(5);
         std::shuffle(rows->launches.begin(), rows->launches.end(), random);
         std::shuffle(rows->samples.begin() + 1, rows->samples.end(), random);
       }},
      {"launches lost",
       [](Rows* rows) {
         size_t index = 0;
         std::erase_if(rows->launches, [&](const LaunchRow&) { return index++ % 97 == 41; });
       }},
      {"samples lost",
       [](Rows* rows) {
         size_t index = 0;
         std::erase_if(rows->samples, [&](const SampleRow&) { return index++ % 3 == 1; });
       }},
      {"no launches", [](Rows* rows) { rows->launches.clear(); }},
      {"no samples", [](Rows* rows) { rows->samples.clear(); }},
      {"one launch", [](Rows* rows) { rows->launches.resize(1); }},
      {"one step", [](Rows* rows) { rows->launches.resize(2); }},
      {"launches of another day", Jump(int64_t{86'400'000} * 1'000'000, 0)},
      {"both clocks jump on", Jump(10'000'000'000, 10'000'000'000)},
      {"both clocks jump back", Jump(-1'000'000, -1'000'000)},
      {"samples jump on by 7 us", Jump(0, 7'000)},
      {"samples jump back by 7 us", Jump(0, -7'000)},
      {"samples jump back by 50 us", Jump(0, -50'000)},
      {"samples jump back by a second", Jump(0, -1'000'000'000)},
  };
}

TEST(HostileRecordings, FiguresAreRightOrMarked) {
  for (const Damage& damage : Damages()) {
    Rows rows = Recorded();
    damage.apply(&rows);
    const auto score = Score(rows);
    if (score.ok()) ExpectRightOrMarked(*score, damage.name);
  }
}

TEST(HostileRecordings, ACleanOneHasNoWarning) {
  const auto score = Score(Recorded());
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_TRUE(score->warnings.empty()) << score->warnings.front();
  EXPECT_LT(*score->dram_bytes_error_percent, 1);
  EXPECT_EQ(score->steps, static_cast<size_t>(kSteps));
}

double ErrorPercent(const std::string& name) {
  for (const Damage& damage : Damages()) {
    if (name != damage.name) continue;
    Rows rows = Recorded();
    damage.apply(&rows);
    const auto score = Score(rows);
    EXPECT_TRUE(score.ok()) << name << ": " << score.status();
    if (!score.ok()) return 100;
    EXPECT_GT(score->steps, size_t{kSteps * 9 / 10}) << name;
    return score->dram_bytes_error_percent.value_or(100);
  }
  ADD_FAILURE() << "no damage " << name;
  return 100;
}

TEST(HostileRecordings, ASmallDamageCostsWhatItTouches) {
  for (const char* name :
       {"not a number", "wrapped at 64 bits", "samples end last", "samples lie last",
        "doubled launches", "doubled samples", "shuffled", "samples lost", "both clocks jump on",
        "both clocks jump back", "samples a millisecond early"}) {
    EXPECT_LT(ErrorPercent(name), 1) << name;
  }
  // What unknown launches did is counted all the same.
  for (const char* name : {"launches end last", "launches without times", "launches lost"}) {
    EXPECT_LT(ErrorPercent(name), 4) << name;
  }
}

TEST(HostileRecordings, LongOnesAreStreamed) {
  Rows rows = Recorded();
  const std::vector<SampleRow> samples(rows.samples.begin() + 1, rows.samples.end());
  const std::vector<LaunchRow> launches = rows.launches;
  const int64_t length_ns = samples.back().end_ns - kBeginNs;
  const int repeats = static_cast<int>(300'000 / samples.size());
  for (int repeat = 1; repeat < repeats; ++repeat) {
    for (SampleRow row : samples) {
      row.start_ns += repeat * length_ns;
      row.end_ns += repeat * length_ns;
      rows.samples.push_back(row);
    }
    for (LaunchRow row : launches) {
      row.start_ns += repeat * length_ns;
      row.end_ns += repeat * length_ns;
      rows.launches.push_back(row);
    }
  }
  const auto score = Score(rows);
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_EQ(score->quality.dropped_samples, 0u);
  EXPECT_EQ(score->quality.samples, rows.samples.size() - 1);
  EXPECT_LT(*score->dram_bytes_error_percent, 1);
}

TEST(HostileRecordings, TextThatIsNoRecordingIsRefused) {
  const Rows rows = Recorded();
  const std::string launches = LaunchText(rows);
  const std::string samples = SampleText(rows);
  const std::string reference = ReferenceText();
  ASSERT_TRUE(ScoreTexts(launches, samples, reference).ok());
  EXPECT_FALSE(ScoreTexts("", samples, reference).ok());
  EXPECT_FALSE(ScoreTexts(launches, "", reference).ok());
  EXPECT_FALSE(ScoreTexts(launches, samples, "").ok());
  EXPECT_FALSE(ScoreTexts("start end name x y z graph\n" + launches, samples, reference).ok());
  EXPECT_FALSE(ScoreTexts(launches, samples + "no sample\n", reference).ok());
  EXPECT_FALSE(
      ScoreTexts(launches, samples, reference + "\"7\",\"a\",\"(1, 1, 1)\",\"m\",\"\",\"nan\"\n")
          .ok());
  EXPECT_FALSE(ScoreTexts(launches, samples, "ID,Kernel Name,Grid Size\n").ok());
  EXPECT_FALSE(ScoreTexts(std::string(size_t{1} << 21, '7'), samples, reference).ok());
  EXPECT_FALSE(ScoreTexts(std::string(4096, '\0'), samples, reference).ok());
}

}  // namespace
}  // namespace utlz
