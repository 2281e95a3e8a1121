// What changed between two runs, or between two groups of runs, and whether it is more than noise.
//
// A run that repeated the same work more often must not look slower, so every time is put per step
// where both sides have steps, and per run elsewhere (`Difference::per_step`).
#ifndef UTLZ_TOOLS_COMPARE_DIFFERENCE_H_
#define UTLZ_TOOLS_COMPARE_DIFFERENCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace utlz {

enum class Verdict {
  kUnknown,       // one side does not know the number, or its error
  kNoDifference,  // within error
  kDecrease,
  kIncrease,
  kAppeared,  // only after
  kGone,      // only before
};

// One number on both sides. An absent side is unknown, not zero.
struct Change {
  std::optional<double> before;
  std::optional<double> after;
  std::optional<double> error;        // one standard error of after − before, in the same unit
  std::optional<double> probability;  // that noise alone gives so large a difference, two-sided
  std::optional<double> degrees_of_freedom;  // of the error; absent where it is taken as normal
  Verdict verdict = Verdict::kUnknown;

  // after − before, and that over before; absent where a side is absent.
  std::optional<double> Delta() const;
  std::optional<double> RelativeDelta() const;
  bool IsReal() const;  // beyond the noise
};

// A named number of the whole run: "step_time_ns", "hfu", …
struct QuantityChange {
  std::string name;
  std::string unit;  // "ns", "share", "joules", "bytes", "tokens/s"
  bool more_is_better = false;
  Change change;
};

struct SliceChange {
  std::string name;  // as in the waterfall
  Change time_ns;
};

enum class MatchedBy {
  kNameAndShape,  // function, grid, block, cluster and kind
  kName,          // function; its shape changed
  kRole,          // another function that does the same work in a step
  kNothing,       // on one side only
};

struct KernelChange {
  MatchedBy matched_by = MatchedBy::kNothing;
  std::string name_before;  // short names, empty on the side where the kernel is not
  std::string name_after;
  std::string shape_before;  // "grid 132×1×1, block 384×1×1"
  std::string shape_after;
  Change time_ns;       // all launches
  Change time_mean_ns;  // one launch
  Change launches;
  Change flops;
  Change dram_bytes;
};

struct LayerChange {
  std::string model;  // class of the outermost module
  std::string name;   // path of the layer; names are those of the target, not escaped
  Change time_ns;     // of its kernels, those of layers inside it too
  // Of a layer that the model repeats: it changed otherwise than those beside it, beyond error.
  bool stands_out = false;
};

// Layers that the model repeats, as one; or a layer that it has once.
struct RepeatedLayerChange {
  std::string model;
  std::string name;  // "layers.*.mlp"; the layer's own where there is one
  size_t instances_before = 0;
  size_t instances_after = 0;
  Change time_ns;              // of all together
  std::vector<size_t> layers;  // indices into Difference::layers, largest change first
};

struct Difference {
  bool per_step = false;
  size_t runs_before = 1;
  size_t runs_after = 1;
  std::vector<QuantityChange> quantities;
  std::vector<SliceChange> slices;
  std::vector<KernelChange> kernels;  // largest change of time first
  std::vector<LayerChange> layers;    // the same, each by itself; empty where a side has none
  std::vector<RepeatedLayerChange> repeated_layers;  // the same, summed
  std::vector<std::string> caveats;                  // why the two sides are not quite comparable
  std::string verdict;                               // one sentence

  bool HasDifference() const;
  // The change of a quantity that both sides know; else null.
  const QuantityChange* FindQuantity(std::string_view name) const;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_DIFFERENCE_H_
