#include "collector/sampler/doctor/doctor_facts.h"
#include "collector/sampler/doctor/system_facts.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr char kPlainUser[] = "Name:\tutlz\nCapEff:\t0000000000000000\n";
constexpr char kTracer[] = "Name:\tutlz\nCapEff:\t0000000000080000\n";
constexpr char kAdministrator[] = "Name:\tutlz\nCapEff:\t0000000000200000\n";

TEST(SystemFacts, CounterPermission) {
  const TemporaryFolder root;
  EXPECT_EQ(CounterPermissionFact(root.path()).status, FactStatus::kUnknown);
  root.Write("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 0\n");
  EXPECT_EQ(CounterPermissionFact(root.path()).status, FactStatus::kGood);
  root.Write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  root.Write("proc/self/status", kPlainUser);
  const DoctorFact refused = CounterPermissionFact(root.path());
  EXPECT_EQ(refused.status, FactStatus::kBad);
  EXPECT_NE(refused.remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  root.Write("proc/self/status", kAdministrator);
  EXPECT_EQ(CounterPermissionFact(root.path()).status, FactStatus::kGood);
}

TEST(SystemFacts, OtherProfilersAreNamed) {
  const TemporaryFolder root;
  root.Write("proc/12/comm", "python3\n");
  root.Write("proc/13/comm", "utlz-sampler\n");  // shares
  EXPECT_EQ(OtherProfilersFact(root.path()).status, FactStatus::kGood);
  root.Write("proc/345/comm", "nv-hostengine\n");
  const DoctorFact fact = OtherProfilersFact(root.path());
  EXPECT_EQ(fact.status, FactStatus::kWarning);
  EXPECT_EQ(fact.detail, "pid 345 (nv-hostengine)");
  EXPECT_FALSE(fact.remedy.empty());
}

TEST(SystemFacts, Mps) {
  const TemporaryFolder root;
  root.Write("proc/1/comm", "init\n");
  EXPECT_EQ(MpsFact(root.path()).status, FactStatus::kGood);
  root.Write("proc/77/comm", "nvidia-cuda-mps\n");
  EXPECT_EQ(MpsFact(root.path()).status, FactStatus::kWarning);
}

TEST(SystemFacts, Ptrace) {
  const TemporaryFolder root;
  root.Write("proc/self/status", kPlainUser);
  EXPECT_EQ(PtraceFact(root.path()).status, FactStatus::kGood);  // no Yama
  root.Write("proc/sys/kernel/yama/ptrace_scope", "0\n");
  EXPECT_EQ(PtraceFact(root.path()).status, FactStatus::kGood);
  root.Write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(PtraceFact(root.path()).status, FactStatus::kWarning);
  root.Write("proc/self/status", kAdministrator);  // whose rights may stop short of tracing
  EXPECT_EQ(PtraceFact(root.path()).status, FactStatus::kWarning);
  root.Write("proc/self/status", kTracer);
  EXPECT_EQ(PtraceFact(root.path()).status, FactStatus::kGood);
}

TEST(DoctorFacts, TheFullJobRunsWithWarningsButNotWithoutItsMeans) {
  const DoctorFact good{.name = "a", .status = FactStatus::kGood};
  const DoctorFact warning{.name = "b", .status = FactStatus::kWarning};
  const DoctorFact bad{.name = "c", .status = FactStatus::kBad};
  EXPECT_TRUE(FullJobCanRun({good, warning}));
  EXPECT_FALSE(FullJobCanRun({good, bad}));
}

}  // namespace
}  // namespace utlz
