// Where the terminal's roofline puts kernels, roofs and numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "collector/text/shown_text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr double kBytesPerSecond = 4.8e12;
constexpr double kPeak = 9e14;
constexpr size_t kRows = 12;
constexpr size_t kPlotBegin = 7;
constexpr size_t kPlotEnd = 66;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> CharactersOf(const std::string& line) {
  std::vector<std::string> characters;
  for (const char byte : line) {
    if (ColumnsOf({&byte, 1}) > 0) characters.emplace_back();
    characters.back() += byte;
  }
  return characters;
}

struct Place {
  size_t row = 0;
  size_t column = 0;
};

// A drawn roofline, character by character.
class Drawing {
 public:
  explicit Drawing(const Summary& summary) : text_(RenderRoofline(summary, {})) {
    for (const std::string& line : LinesOf(text_)) {
      EXPECT_LE(ColumnsOf(line), 100u) << line;
      lines_.push_back(CharactersOf(line));
    }
    EXPECT_GT(lines_.size(), kRows + 1) << text_;
    lines_.resize(std::max(lines_.size(), kRows + 2));
  }

  const std::string& text() const { return text_; }
  std::string At(size_t row, size_t column) const {
    return column < lines_[row].size() ? lines_[row][column] : " ";
  }
  std::optional<Place> Find(const std::string& letter) const {
    for (size_t row = 1; row <= kRows; ++row) {
      for (size_t column = kPlotBegin; column < kPlotEnd; ++column) {
        if (At(row, column) == letter) return Place{row, column};
      }
    }
    return std::nullopt;
  }
  // The rate that stands beside a row, in FLOP/s; nothing where none does.
  std::optional<double> RateBeside(size_t row) const {
    std::string text;
    for (size_t column = 0; column < 5; ++column) text += At(row, column);
    size_t used = 0;
    if (text.find_first_not_of(' ') == std::string::npos) return std::nullopt;
    const double number = std::stod(text, &used);
    constexpr char kPrefixes[] = "kMGTP";
    const char* prefix = std::strchr(kPrefixes, used < text.size() ? text[used] : ' ');
    return prefix == nullptr ? number : number * std::pow(1e3, prefix - kPrefixes + 1);
  }
  // The intensity that is written under a column; nothing where none begins there.
  std::optional<double> IntensityUnder(size_t column) const {
    if (At(kRows + 1, column) == " " || At(kRows + 1, column - 1) != " ") return std::nullopt;
    std::string text;
    for (size_t i = column; At(kRows + 1, i) != " "; ++i) text += At(kRows + 1, i);
    return std::isdigit(text[0]) != 0 ? std::make_optional(std::stod(text)) : std::nullopt;
  }

 private:
  std::string text_;
  std::vector<std::vector<std::string>> lines_;
};

void AddPeak(Summary* summary, const std::string& data_type, double flops_per_second) {
  PeakSummary* peak = summary->mutable_devices(0)->add_peaks();
  peak->set_data_type(data_type);
  peak->set_flops_per_second(flops_per_second);
}

// Capital letters are none of a kernel.
constexpr char kType[] = "BF16";

Summary Roof(const std::string& data_type = kType) {
  Summary summary;
  summary.add_devices()->set_peak_dram_bytes_per_second(kBytesPerSecond);
  AddPeak(&summary, data_type, kPeak);
  return summary;
}

// The longer ago it was added, the more time it takes.
KernelSummary* AddKernel(Summary* summary, double intensity, double flops_per_second,
                         const std::string& data_type = kType) {
  KernelSummary* kernel = summary->add_kernels();
  kernel->set_short_name("kernel " + std::to_string(summary->kernels_size()));
  kernel->set_time_ns(1e9 / summary->kernels_size());
  kernel->set_arithmetic_intensity(intensity);
  kernel->set_flops_per_second(flops_per_second);
  DataTypeFlops* type = kernel->add_flops_by_type();
  type->set_data_type(data_type);
  type->set_flops(1e12);
  return kernel;
}

TEST(TextRooflineTest, MoreIntensityIsToTheRightAndMoreFlopsAreAbove) {
  Summary summary = Roof();
  AddKernel(&summary, 100, 3e14);
  AddKernel(&summary, 1000, 3e14);
  AddKernel(&summary, 100, 3e13);
  const Drawing drawing(summary);
  const auto a = drawing.Find("a"), b = drawing.Find("b"), c = drawing.Find("c");
  ASSERT_TRUE(a && b && c) << drawing.text();
  EXPECT_EQ(a->row, b->row);
  EXPECT_LT(a->column, b->column);
  EXPECT_EQ(a->column, c->column);
  EXPECT_LT(a->row, c->row);
}

TEST(TextRooflineTest, KernelsAtTheRoofLieOnIt) {
  Summary summary = Roof();
  AddKernel(&summary, 20, 20 * kBytesPerSecond);
  AddKernel(&summary, 300, kPeak);
  AddKernel(&summary, 20, 5 * kBytesPerSecond);
  const Drawing drawing(summary);
  const auto slope = drawing.Find("a"), flat = drawing.Find("b"), below = drawing.Find("c");
  ASSERT_TRUE(slope && flat && below) << drawing.text();
  EXPECT_TRUE(drawing.At(slope->row, slope->column - 1) == "/" ||
              drawing.At(slope->row, slope->column + 1) == "/")
      << drawing.text();
  EXPECT_EQ(drawing.At(flat->row, flat->column - 1), "─") << drawing.text();
  EXPECT_EQ(drawing.At(flat->row, flat->column + 1), "─") << drawing.text();
  EXPECT_EQ(drawing.At(below->row, below->column - 1), " ") << drawing.text();
  EXPECT_EQ(drawing.At(below->row, below->column + 1), " ") << drawing.text();
}

TEST(TextRooflineTest, NumbersOfTheAxesAreThoseOfTheirPlaces) {
  for (const double intensity : {2., 30., 187., 900., 20'000.}) {
    Summary summary = Roof();
    AddKernel(&summary, 1, 1e10);
    const double flops = std::min(kPeak, intensity * kBytesPerSecond) / 3;
    AddKernel(&summary, intensity, flops);
    const Drawing drawing(summary);
    const auto kernel = drawing.Find("b");
    ASSERT_TRUE(kernel.has_value()) << drawing.text();
    int rates = 0, intensities = 0;
    for (size_t row = 1; row <= kRows; ++row) {
      const auto rate = drawing.RateBeside(row);
      if (!rate.has_value()) continue;
      ++rates;
      if (row != kernel->row) {
        EXPECT_EQ(row<kernel->row, *rate> flops) << drawing.text();
      }
    }
    for (size_t column = kPlotBegin; column < kPlotEnd; ++column) {
      const auto under = drawing.IntensityUnder(column);
      if (!under.has_value()) continue;
      ++intensities;
      if (column != kernel->column) {
        EXPECT_EQ(column > kernel->column, *under > intensity) << drawing.text();
      }
    }
    EXPECT_EQ(rates, 4) << drawing.text();
    EXPECT_GE(intensities, 4) << drawing.text();
  }
}

TEST(TextRooflineTest, WhereTwoFallTogetherTheOneWithMoreTimeStays) {
  Summary summary = Roof();
  for (int i = 0; i < 3; ++i) AddKernel(&summary, 100, 3e14);
  const Drawing drawing(summary);
  EXPECT_TRUE(drawing.Find("a").has_value());
  EXPECT_FALSE(drawing.Find("b").has_value()) << drawing.text();
  EXPECT_FALSE(drawing.Find("c").has_value()) << drawing.text();
}

TEST(TextRooflineTest, NoLabelHidesAKernel) {
  // Along the whole roof, so that one lies under each letter of its label.
  for (double intensity = 300; intensity < 1e5; intensity *= 1.05) {
    Summary summary = Roof("bf16");
    for (int i = 0; i < 9; ++i) AddKernel(&summary, 20 + i, 1e13, "bf16");
    AddKernel(&summary, intensity, kPeak, "bf16");
    EXPECT_TRUE(Drawing(summary).Find("j").has_value()) << Drawing(summary).text();
  }
}

TEST(TextRooflineTest, NoKernelCutsALabel) {
  for (double intensity = 300; intensity < 1e5; intensity *= 1.05) {
    Summary summary = Roof("bf16");
    AddKernel(&summary, intensity, kPeak, "bf16");
    const std::string text = Drawing(summary).text();
    EXPECT_NE(text.find("─bf16─"), std::string::npos) << text;
  }
}

TEST(TextRooflineTest, TenKernelsHaveALetter) {
  Summary summary = Roof();
  for (int i = 0; i < 12; ++i) AddKernel(&summary, 20 << i, 1e14);
  const Drawing drawing(summary);
  EXPECT_TRUE(drawing.Find("j").has_value());
  EXPECT_FALSE(drawing.Find("k").has_value());
  EXPECT_NE(drawing.text().find(" j "), std::string::npos);
  EXPECT_EQ(drawing.text().find("kernel 11"), std::string::npos);
}

TEST(TextRooflineTest, CeilingsOfSlowerTypesAreDottedUnderTheRoof) {
  Summary summary = Roof();
  AddPeak(&summary, "fp32", kPeak / 15);
  AddPeak(&summary, "fp8", 2 * kPeak);
  AddKernel(&summary, 300, 2e14);
  AddKernel(&summary, 300, 2e13, "fp32");
  const Drawing drawing(summary);
  const auto roof = drawing.Find("─"), dotted = drawing.Find("┈");
  ASSERT_TRUE(roof && dotted) << drawing.text();
  EXPECT_LT(roof->row, dotted->row);
  EXPECT_LT(dotted->column, roof->column) << "it meets the slope further left";
  EXPECT_NE(drawing.text().find("the roof is 900 TFLOP/s"), std::string::npos) << "fp8 is not used";
}

TEST(TextRooflineTest, LabelsAreOfAnyCharacters) {
  const std::string label = "überlänge-ñüßéèêëÿåæø";
  Summary summary = Roof(label);
  AddKernel(&summary, 100, 3e14, label);
  EXPECT_NE(Drawing(summary).text().find(label), std::string::npos) << Drawing(summary).text();
  std::string longer;
  for (int i = 0; i < 10; ++i) longer += label;
  summary = Roof(longer);
  AddKernel(&summary, 100, 3e14, longer);
  EXPECT_TRUE(Drawing(summary).Find("a").has_value());
}

TEST(TextRooflineTest, NumbersOfNoGpuHarmNothing) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double numbers[] = {kInfinity, std::nan(""), 1e308, 1e-308, 5e-324, 1e12};
  for (const double number : numbers) {
    Summary summary = Roof();
    AddKernel(&summary, 100, 3e14);
    AddKernel(&summary, number, 3e14);
    AddKernel(&summary, 100, number);
    EXPECT_TRUE(Drawing(summary).Find("a").has_value()) << number;
    for (const double other : numbers) {
      summary.mutable_devices(0)->set_peak_dram_bytes_per_second(number);
      summary.mutable_devices(0)->mutable_peaks(0)->set_flops_per_second(other);
      RenderRoofline(summary, {});
    }
  }
  Summary summary = Roof();
  AddKernel(&summary, 100, 3e14);
  summary.mutable_devices(0)->set_peak_dram_bytes_per_second(1e308);
  summary.mutable_devices(0)->mutable_peaks(0)->set_flops_per_second(1e-308);
  EXPECT_EQ(RenderRoofline(summary, {}), "") << "no place can be told";
}

TEST(TextRooflineTest, OfManyGpusTheRoofWithMostTimeIsDrawn) {
  Summary summary = Roof();
  AddKernel(&summary, 100, 3e14);
  for (int i = 1; i < 300; ++i) {
    *summary.add_devices() = summary.devices(0);
    summary.mutable_devices(i)->set_name("GPU of kind " + std::to_string(i));
    summary.mutable_devices(i)->set_uuid("GPU-" + std::to_string(i));
  }
  summary.mutable_kernels(0)->set_device_uuid("GPU-299");
  EXPECT_NE(RenderRoofline(summary, {}).find("Roofline of GPU 299"), std::string::npos);
}

}  // namespace
}  // namespace utlz
