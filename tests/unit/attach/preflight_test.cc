#include "tools/attach/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace utlz::attach {
namespace {

using testing::HasSubstr;

ProcessFacts Healthy() {
  ProcessFacts facts;
  facts.pid = 42;
  facts.name = "server";
  facts.state = 'S';
  facts.user_id = 1000;
  facts.has_proc = true;
  facts.may_trace = true;
  return facts;
}

constexpr Permissions kRoot = {0, true, 0};
constexpr Permissions kSameUser = {1000, false, 0};

std::string Refusal(const ProcessFacts& facts, const Permissions& permissions = kRoot) {
  return std::string(CheckFacts(facts, permissions).message());
}

TEST(PreflightTest, AcceptsHealthyProcess) { EXPECT_TRUE(CheckFacts(Healthy(), kRoot).ok()); }

// Another profiler is a fact that the caller weighs, not a reason to refuse here.
TEST(PreflightTest, AcceptsOtherProfiler) {
  ProcessFacts facts = Healthy();
  facts.cupti_paths = {"/usr/lib/libcupti.so.12"};
  EXPECT_TRUE(CheckFacts(facts, kRoot).ok());
}

TEST(PreflightTest, RefusesStates) {
  ProcessFacts facts = Healthy();
  facts.is_kernel_thread = true;
  EXPECT_THAT(Refusal(facts), HasSubstr("process 42 (server) is a kernel thread"));
  facts = Healthy();
  facts.state = 'Z';
  EXPECT_THAT(Refusal(facts), HasSubstr("has ended"));
  facts = Healthy();
  facts.state = 't';
  facts.tracer_pid = 7;
  EXPECT_THAT(Refusal(facts), HasSubstr("is being traced by process 7"));
  facts = Healthy();
  facts.state = 'T';
  EXPECT_THAT(Refusal(facts), HasSubstr("kill -CONT 42"));
  facts = Healthy();
  facts.is_frozen = true;
  EXPECT_THAT(Refusal(facts), HasSubstr("unpause its container"));
}

TEST(PreflightTest, RefusesEnvironments) {
  ProcessFacts facts = Healthy();
  facts.seccomp = SeccompMode::kStrict;
  EXPECT_THAT(Refusal(facts), HasSubstr("strict seccomp"));
  facts = Healthy();
  facts.shares_parents_memory = true;
  facts.parent_pid = 41;
  EXPECT_THAT(Refusal(facts), HasSubstr("memory of process 41"));
  facts = Healthy();
  facts.has_agent = true;
  EXPECT_EQ(CheckFacts(facts, kRoot).code(), absl::StatusCode::kAlreadyExists);
  facts = Healthy();
  facts.has_proc = false;
  EXPECT_THAT(Refusal(facts), HasSubstr("sees no /proc"));
}

// A filter is judged when it can be read: not before.
TEST(PreflightTest, LeavesFiltersToTheLoader) {
  ProcessFacts facts = Healthy();
  facts.seccomp = SeccompMode::kFilter;
  EXPECT_TRUE(CheckFacts(facts, kRoot).ok());
}

TEST(PreflightTest, SaysWhoseFaultMissingPermissionIs) {
  ProcessFacts facts = Healthy();
  facts.may_trace = false;
  EXPECT_EQ(CheckFacts(facts, kSameUser).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(Refusal(facts, {1000, false, 0}), HasSubstr("not dumpable"));
  EXPECT_THAT(Refusal(facts, {1000, false, 1}), HasSubstr("attach with sudo"));
  EXPECT_THAT(Refusal(facts, {1000, false, 3}), HasSubstr("forbids tracing altogether"));
  EXPECT_THAT(Refusal(facts, {1001, false, 0}), HasSubstr("belongs to user 1000"));
  EXPECT_THAT(Refusal(facts, kRoot), HasSubstr("a security module forbids it"));
}

TEST(PreflightTest, FindsLibrariesOfInterest) {
  ProcessFacts facts;
  AddMappedLibraries(
      MemoryMap::Parse("1000-2000 r-xp 0 08:01 5 /usr/lib/libcuda.so.580.1\n"
                       "2000-3000 r-xp 0 08:01 6 /venv/libcupti.so.13\n"
                       "3000-4000 r--p 0 08:01 6 /venv/libcupti.so.13\n"
                       "4000-5000 r-xp 0 08:01 7 /opt/evil\x1b[2Jname/libcupti.so.12\n"
                       "5000-6000 r-xp 0 08:01 8 /opt/nsys/libToolsInjection64.so\n"
                       "6000-7000 r-xp 0 00:01 9 /memfd:libutlz_inject.so (deleted)\n"),
      facts);
  EXPECT_TRUE(facts.has_cuda_driver);
  EXPECT_TRUE(facts.has_agent);
  EXPECT_THAT(facts.cupti_paths,
              testing::ElementsAre("/venv/libcupti.so.13", "/opt/evil?[2Jname/libcupti.so.12"));
  EXPECT_EQ(facts.other_tools.size(), 1u);
}

TEST(PreflightTest, ReadsThisProcess) {
  const auto facts = ReadProcessFacts(getpid());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->pid, getpid());
  EXPECT_EQ(facts->parent_pid, getppid());
  EXPECT_EQ(facts->user_id, getuid());
  EXPECT_EQ(facts->state, 'R');
  EXPECT_FALSE(facts->is_kernel_thread);
  EXPECT_FALSE(facts->shares_parents_memory);
  EXPECT_TRUE(facts->has_proc);
  EXPECT_FALSE(facts->has_agent);
}

TEST(PreflightTest, RefusesItself) { EXPECT_FALSE(Preflight(getpid()).ok()); }

}  // namespace
}  // namespace utlz::attach
