#include "collector/summary/owner_rows.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/summary/kernel_summary.h"

namespace utlz {
namespace {

// Kernels that are named beside an owner, and beside all owners of a list together.
constexpr size_t kMostKernelsOfOwner = 64;
constexpr size_t kMostKernelsOfList = 32768;

// By the numbers in names, as far as names are equal before them.
bool NaturallyBefore(const std::string& a, const std::string& b) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      size_t a_end = i, b_end = j;
      while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
      while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
      if (a_end - i != b_end - j) return a_end - i < b_end - j;
      const int order = a.compare(i, a_end - i, b, j, b_end - j);
      if (order != 0) return order < 0;
      i = a_end;
      j = b_end;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// Each owner after the one around it, neighbours by `before`.
template <typename Before>
std::vector<int> TreeOrder(const OwnerList& list, Before before) {
  std::vector<std::vector<int>> inside(list.size() + 1);
  for (size_t i = 0; i < list.size(); ++i) {
    inside[static_cast<size_t>(list[i].parent + 1)].push_back(static_cast<int>(i));
  }
  std::vector<int> order, open;
  const auto push = [&](size_t of) {
    std::vector<int>& owners = inside[of];
    std::sort(owners.begin(), owners.end(), [&](int a, int b) {
      return before(list[static_cast<size_t>(b)], list[static_cast<size_t>(a)]);
    });
    open.insert(open.end(), owners.begin(), owners.end());
  };
  for (push(0); !open.empty();) {
    order.push_back(open.back());
    open.pop_back();
    push(static_cast<size_t>(order.back()) + 1);
  }
  return order;
}

// Which kernels the owners' own work is of, as far as there is room in the list: `room`.
void NameKernels(const OwnerList::Owner& owner, size_t* room, OwnerSummary* row) {
  std::vector<std::pair<size_t, int64_t>> parts = owner.own_rows;
  const size_t named = std::min({parts.size(), kMostKernelsOfOwner, *room});
  const auto end = parts.begin() + static_cast<std::ptrdiff_t>(named);
  std::partial_sort(parts.begin(), end, parts.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (auto part = parts.begin(); part != end; ++part) {
    row->add_own_kernel_ids(KernelIdOf(part->first));
    row->add_own_kernel_time_ns(static_cast<double>(part->second));
  }
  if (named < parts.size()) {
    row->set_own_kernels_left_out(static_cast<uint32_t>(parts.size() - named));
  }
  *room -= named;
}

// Those with most time first. `places`: of each owner in `rows`.
void NameKernels(const OwnerList& list, const std::vector<int>& places, OwnerRows* rows) {
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return list[a].own.time_ns > list[b].own.time_ns; });
  size_t room = kMostKernelsOfList;
  for (const size_t owner : order) NameKernels(list[owner], &room, rows->Mutable(places[owner]));
}

int64_t WeightOf(const OwnerList::Owner& owner) { return owner.all.time_ns + owner.all.idle_ns; }

std::vector<size_t> ByWeight(const OwnerList& list) {
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return WeightOf(list[a]) > WeightOf(list[b]); });
  return order;
}

// What the owners from `begin` of `order` on have, in one row.
OwnerSummary SumOfRest(const OwnerList& list, const std::vector<size_t>& order, size_t begin,
                       const char* name, double all_ns, bool with_idle) {
  OwnerList rest;
  OwnerSummary head;
  head.set_kind("outside");
  head.set_name(name);
  OwnerList::Owner& owner = rest[static_cast<size_t>(rest.Find("", OwnerList::kNone, head))];
  std::set<size_t> kernels;
  for (size_t i = begin; i < order.size(); ++i) {
    owner.own.Add(list[order[i]].own);
    owner.all.Add(list[order[i]].all);
    for (const auto& part : list[order[i]].own_rows) kernels.insert(part.first);
  }
  OwnerSummary row = rest.Describe(0, all_ns, with_idle);
  row.set_own_kernels_left_out(static_cast<uint32_t>(kernels.size()));
  return row;
}

}  // namespace

void WriteTree(const OwnerList& list, double all_ns, OwnerRows* rows) {
  const std::vector<int> order = TreeOrder(list, [](const auto& a, const auto& b) {
    if ((a.head.kind() == "layer") != (b.head.kind() == "layer")) return a.head.kind() == "layer";
    if (a.order != b.order) return a.order < b.order;
    return NaturallyBefore(a.head.name(), b.head.name());
  });
  std::vector<int> places(list.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto index = static_cast<size_t>(order[i]);
    places[index] = static_cast<int>(i);
    OwnerSummary row = list.Describe(index, all_ns, true);
    if (list[index].parent != OwnerList::kNone) {
      row.set_parent(places[static_cast<size_t>(list[index].parent)]);
    }
    *rows->Add() = std::move(row);
  }
  NameKernels(list, places, rows);
}

void WriteByWeight(const OwnerList& list, double all_ns, bool with_idle, size_t most_rows,
                   const char* name_of_rest, OwnerRows* rows) {
  const std::vector<size_t> order = ByWeight(list);
  size_t room = kMostKernelsOfList;
  for (size_t i = 0; i < std::min(order.size(), most_rows); ++i) {
    *rows->Add() = list.Describe(order[i], all_ns, with_idle);
    NameKernels(list[order[i]], &room, rows->Mutable(rows->size() - 1));
  }
  if (order.size() <= most_rows) return;
  *rows->Add() = SumOfRest(list, order, most_rows, name_of_rest, all_ns, with_idle);
}

}  // namespace utlz
