#include "tools/merge/stragglers.h"

#include <algorithm>
#include <cmath>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr double kLeastToleranceNs = 20e3;
constexpr double kToleranceErrors = 4;
// From here on a rank counts as a straggler: others wait for it this share of the run, and it is
// often last.
constexpr double kWorthSaying = 0.01;

// One rank's part in a collective, on the first host's clock.
struct Participation {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t name;
  uint32_t rank;  // index
};

std::vector<Participation> ParticipationsByEnd(const std::vector<PlacedRank>& ranks) {
  std::vector<Participation> participations;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const ClockShift& clock = ranks[rank].clock;
    for (const Collective& one : ranks[rank].trace->collectives) {
      // Good to the nanosecond although the time itself is too long for a double.
      const double own_ns = static_cast<double>(one.end_ns) - clock.shift_ns;
      const auto earlier = static_cast<uint64_t>(std::llround(clock.At(own_ns)));
      participations.push_back({one.start_ns - earlier, one.end_ns - earlier, one.name, rank});
    }
  }
  std::sort(participations.begin(), participations.end(),
            [](const Participation& a, const Participation& b) { return a.end_ns < b.end_ns; });
  return participations;
}

class Tally {
 public:
  Tally(size_t ranks, double error_ns, RanksSummary* summary)
      : error_ns_(error_ns), summary_(summary), met_(ranks), by_turns_(ranks) {}

  // The participations of one collective.
  void Add(const std::vector<const Participation*>& participations) {
    if (participations.size() < 2) return;
    summary_->set_collectives(summary_->collectives() + 1);
    const Participation* last = participations[0];
    for (const Participation* participation : participations) {
      if (participation->start_ns > last->start_ns) last = participation;
    }
    uint64_t before_last_ns = 0;
    for (const Participation* participation : participations) {
      RankSummary* rank = summary_->mutable_ranks(static_cast<int>(participation->rank));
      rank->set_collectives(rank->collectives() + 1);
      by_turns_[participation->rank] += 1 / static_cast<double>(participations.size());
      rank->set_waiting_ns(rank->waiting_ns() +
                           static_cast<double>(last->start_ns - participation->start_ns));
      if (participation != last) before_last_ns = std::max(before_last_ns, participation->start_ns);
    }
    const double alone_ns = static_cast<double>(last->start_ns - before_last_ns);
    if (alone_ns <= error_ns_) return;
    RankSummary* rank = summary_->mutable_ranks(static_cast<int>(last->rank));
    rank->set_last_in(rank->last_in() + 1);
    rank->set_waited_for_ns(rank->waited_for_ns() + alone_ns);
  }

  // Whether this rank is already in the collective that is being put together.
  bool IsIn(uint32_t rank, uint64_t collective) const { return met_[rank] == collective; }
  void Mark(uint32_t rank, uint64_t collective) { met_[rank] = collective; }

  // Whether a rank is last halfway more often than by turns, towards always. Others may have begun
  // after it had ended, or have no part in its collectives.
  bool IsOftenLast(size_t index) const {
    const RankSummary& rank = summary_->ranks(static_cast<int>(index));
    const auto collectives = static_cast<double>(rank.collectives());
    return static_cast<double>(rank.last_in()) > (by_turns_[index] + collectives) / 2;
  }

 private:
  double error_ns_;
  RanksSummary* summary_;
  std::vector<uint64_t> met_;
  std::vector<double> by_turns_;  // in how many collectives it would be last by turns
};

// Puts together what ends within the tolerance under one name, each rank once.
void GroupParticipations(const std::vector<Participation>& participations, double tolerance_ns,
                         Tally* tally) {
  std::vector<bool> taken(participations.size());
  std::vector<const Participation*> group;
  for (size_t first = 0; first < participations.size(); ++first) {
    if (taken[first]) continue;
    group.clear();
    const uint64_t number = first + 1;
    for (size_t i = first; i < participations.size(); ++i) {
      if (static_cast<double>(participations[i].end_ns - participations[first].end_ns) >
          tolerance_ns)
        break;
      if (taken[i] || participations[i].name != participations[first].name) continue;
      if (tally->IsIn(participations[i].rank, number)) break;  // the next collective has begun
      tally->Mark(participations[i].rank, number);
      taken[i] = true;
      group.push_back(&participations[i]);
    }
    tally->Add(group);
  }
}

std::string NameOf(const RankSummary& rank) {
  std::string name = rank.has_rank() ? "Rank " + std::to_string(rank.rank())
                                     : "Process " + std::to_string(rank.pid());
  if (!rank.host().empty()) name += " (" + rank.host() + ")";
  return name;
}

std::string VerdictOf(const RanksSummary& summary, double wall_ns) {
  if (summary.collectives() == 0) return "No collective was seen in more than one rank.";
  const RankSummary& worst = summary.ranks(0);
  if (!worst.straggler()) return "No rank comes last into collectives much more than the others.";
  const auto last_in = static_cast<double>(worst.last_in());
  return NameOf(worst) + " is last into " +
         CountText(100 * last_in / static_cast<double>(worst.collectives())) +
         " % of the collectives, by " + TimeText(worst.waited_for_ns() / last_in) +
         " on average; the others wait " +
         PercentText(wall_ns > 0 ? worst.waited_for_ns() / wall_ns : 0) +
         " of the run for it alone.";
}

}  // namespace

void FindStragglers(const std::vector<PlacedRank>& ranks, double wall_ns, RanksSummary* summary) {
  double error_ns = 0;
  for (const PlacedRank& one : ranks) {
    error_ns = std::max(error_ns, one.clock.error_ns);
    RankSummary* rank = summary->add_ranks();
    if (one.trace->has_rank) rank->set_rank(one.trace->rank);
    if (!one.host.empty()) rank->set_host(one.host);
    rank->set_pid(one.trace->pid);
    rank->set_source_index(one.source_index);
    rank->set_collectives(0);
    rank->set_last_in(0);
    rank->set_waited_for_ns(0);
    rank->set_waiting_ns(0);
  }
  summary->set_collectives(0);
  Tally tally(ranks.size(), error_ns, summary);
  GroupParticipations(ParticipationsByEnd(ranks),
                      std::max(kLeastToleranceNs, kToleranceErrors * error_ns), &tally);
  for (size_t i = 0; i < ranks.size(); ++i) {
    RankSummary* rank = summary->mutable_ranks(static_cast<int>(i));
    rank->set_straggler(tally.IsOftenLast(i) && rank->waited_for_ns() > kWorthSaying * wall_ns);
  }
  std::stable_sort(summary->mutable_ranks()->begin(), summary->mutable_ranks()->end(),
                   [](const RankSummary& a, const RankSummary& b) {
                     return a.waited_for_ns() > b.waited_for_ns();
                   });
  summary->set_verdict(VerdictOf(*summary, wall_ns));
}

}  // namespace utlz
