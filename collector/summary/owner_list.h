// Owners of work and what is theirs: a list that may be a tree, in which an owner's work counts for
// those around it too.
#ifndef UTLZ_COLLECTOR_SUMMARY_OWNER_LIST_H_
#define UTLZ_COLLECTOR_SUMMARY_OWNER_LIST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/owners/stack_owners.h"
#include "collector/run/stack_work.h"
#include "proto/summary.pb.h"

namespace utlz {

inline constexpr int kBounds = 6;  // values of Bound

// By group of trace windows (StackWork).
using ByWindowGroup = std::array<double, StackWork::kGroups>;

// A part of a kernel's work.
struct WorkPart {
  int64_t time_ns = 0;
  double launches = 0;
  std::optional<double> flops;
  std::optional<double> bytes;
  std::optional<double> savings_ns;
  double compute_ns = 0;  // of its FLOPs at the peak
  Bound bound = BOUND_UNKNOWN;
  double steady_ns = 0;  // of its time: what lies in the steady part
  bool without_counters = false;
  LaunchPass pass = LaunchPass::kForward;
  bool inferred = false;
  uint32_t part_of_layer = UINT32_MAX;  // index into GraphOwners::parts; the greatest: none
  // Launches between windows are divided by the shares that stacks have of a kernel in all windows
  // together. By group of windows: the part's launches less those by its share in all of them,
  // scaled to the launches between windows. The sum over groups is 0.
  ByWindowGroup launch_residuals{};
};

// Standard errors for each launch of the row of kernels that parts are of.
struct RowErrors {
  double flops = 0;
  double bytes = 0;
  double savings_ns = 0;
};

struct OwnerAmount {
  int64_t time_ns = 0;
  int64_t idle_ns = 0;
  double steady_ns = 0;
  int64_t without_counters_ns = 0;
  int64_t without_flops_ns = 0;
  int64_t inferred_ns = 0;
  int64_t backward_ns = 0;
  int64_t recomputation_ns = 0;
  double launches = 0;
  std::optional<double> flops, bytes, savings_ns;
  double compute_ns = 0;
  double flops_variance = 0, bytes_variance = 0, savings_variance = 0;  // of the rows' counters
  ByWindowGroup flops_residuals{}, bytes_residuals{},
      savings_residuals{};  // as WorkPart has launches
  std::array<int64_t, kBounds> bound_ns{};
  double row_launches = 0;  // of the row whose parts are being added

  void Add(const WorkPart& part);
  void EndRow(const RowErrors& errors);
  // What another owner has, between rows.
  void Add(const OwnerAmount& other);

  // Standard errors: of the counters, and of how work between windows is divided among owners.
  double FlopsError() const;
  double BytesError() const;
  double SavingsError() const;
};

class OwnerList {
 public:
  static constexpr int kNone = -1;

  struct Owner {
    OwnerSummary head;  // who it is
    int parent = kNone;
    // The collector inferred that work belongs to this owner. The owners around it may have been
    // seen.
    bool is_inferred = false;
    bool has_numbered_names = false;  // as LayerOwner has it
    uint32_t order = 0;               // among those in `parent`, before their names count
    bool in_row = false;              // it has a part of the row whose parts are being added
    OwnerAmount own, all;
    std::unordered_map<int, int64_t> idle_after_ns;  // by the owner before
    // Rows of kernels with a part of `own`, and that part's time; each once.
    std::vector<std::pair<size_t, int64_t>> own_rows;
  };

  bool Has(const std::string& key) const { return by_key_.contains(key); }
  // `key` is the owner's own. `head` is kept where it is new.
  int Find(const std::string& key, int parent, const OwnerSummary& head);
  // `row` is of the analysis; parts of one follow each other.
  void Add(int owner, size_t row, const WorkPart& part);
  // Parts of another row follow.
  void EndRow(const RowErrors& errors);
  void AddIdle(int owner, int before, int64_t idle_ns);

  size_t size() const { return owners_.size(); }
  Owner& operator[](size_t index) { return owners_[index]; }
  const Owner& operator[](size_t index) const { return owners_[index]; }
  // Head and figures; `all_ns` is what shares are of. `parent` is left out.
  OwnerSummary Describe(size_t index, double all_ns, bool with_idle) const;

 private:
  void DescribeIdle(const Owner& owner, OwnerSummary* summary) const;

  std::vector<Owner> owners_;
  std::unordered_map<std::string, int> by_key_;
  std::vector<int> touched_;  // by the row's parts
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_OWNER_LIST_H_
