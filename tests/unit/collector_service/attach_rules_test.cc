#include "tools/collector_service/attach_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

constexpr char kPod[] = "01234567-89ab-cdef-0123-456789abcdef";

AttachRule Rule(const std::string& text) {
  const auto rules = ParseAttachRules("[" + text + "]");
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() && rules->size() == 1 ? rules->front() : AttachRule();
}

RuleFacts Server() {
  return {.program = "python3.11",
          .thread = "vllm",
          .user = 1000,
          .cgroup = "/system.slice/vllm.service",
          .pod_uid = kPod};
}

TEST(AttachRulesTest, ANameAloneIsNotEnough) {
  const auto rules = ParseAttachRules(R"([{"name": "vllm"}])");
  EXPECT_TRUE(absl::IsInvalidArgument(rules.status()));
  EXPECT_THAT(std::string(rules.status().message()), HasSubstr("rule 1 has a name alone"));
}

TEST(AttachRulesTest, WhatIsWrongIsSaid) {
  for (const char* wrong :
       {"", "{}", "[1]", R"([{"user": "root"}])", R"([{"name": "a", "user": 0}])",
        R"([{"name": "a", "users": "root"}])", R"([{"name": "", "user": "root"}])",
        R"([{"name": "a", "user": "no such user"}])", R"([{"name": "a", "cgroup": "/"}])",
        R"([{"name": "a", "user": "root"},)"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseAttachRules(wrong).status())) << wrong;
  }
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_TRUE(absl::IsInvalidArgument(ParseAttachRules(deep).status()));
}

TEST(AttachRulesTest, EveryKeyMustFit) {
  EXPECT_TRUE(Matches(Rule(R"({"name": "vllm", "user": "1000"})"), Server()));
  EXPECT_TRUE(Matches(Rule(R"({"name": "python3.11", "user": "1000"})"), Server()));
  EXPECT_FALSE(Matches(Rule(R"({"name": "python3.11", "user": "root"})"), Server()));
  EXPECT_FALSE(Matches(Rule(R"({"name": "python", "user": "1000"})"), Server()));
  const std::string pod = std::string(R"({"name": "vllm", "pod": ")") + kPod + "\"}";
  EXPECT_TRUE(Matches(Rule(pod), Server()));
  RuleFacts elsewhere = Server();
  elsewhere.pod_uid.clear();
  EXPECT_FALSE(Matches(Rule(pod), elsewhere));
}

TEST(AttachRulesTest, AControlGroupHoldsThoseBelowIt) {
  EXPECT_TRUE(Matches(Rule(R"({"name": "vllm", "cgroup": "/system.slice"})"), Server()));
  EXPECT_TRUE(
      Matches(Rule(R"({"name": "vllm", "cgroup": "/system.slice/vllm.service/"})"), Server()));
  EXPECT_FALSE(Matches(Rule(R"({"name": "vllm", "cgroup": "/system.slice/vllm"})"), Server()))
      << "a name that only begins alike";
}

TEST(AttachRulesTest, FactsAreTheKernels) {
  TemporaryFolder proc;
  proc.Write("7/comm", "vllm\n");
  proc.Write("7/environ", "POD_NAME=forged");
  proc.Write("7/cgroup", "4:memory:/x\n0::/kubepods/pod" + std::string(kPod) + "/c\n");
  std::filesystem::create_symlink("/usr/bin/python3.11", proc.File("7/exe"));
  const auto facts = ReadRuleFacts(proc.path(), 7);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->program, "python3.11");
  EXPECT_EQ(facts->thread, "vllm");
  EXPECT_EQ(facts->user, geteuid());
  EXPECT_EQ(facts->cgroup, "/kubepods/pod" + std::string(kPod) + "/c");
  EXPECT_EQ(facts->pod_uid, kPod);
  EXPECT_FALSE(ReadRuleFacts(proc.path(), 8));
}

TEST(AttachRulesTest, AGroupThatAUserMadeIsNoPod) {
  TemporaryFolder proc;
  const std::string own = "/user.slice/user-1000.slice/user@1000.service/kubepods/pod";
  proc.Write("7/comm", "vllm\n");
  proc.Write("7/cgroup", "1:name=systemd:" + own + kPod + "/c\n0::" + own + kPod + "/c\n");
  const auto facts = ReadRuleFacts(proc.path(), 7);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->cgroup, own + kPod + "/c");
  EXPECT_EQ(facts->pod_uid, "");
  proc.Write("7/cgroup", "1:name=systemd:" + own + kPod + "/c\n0::/kubepods/pod" + kPod + "/c\n");
  EXPECT_EQ(ReadRuleFacts(proc.path(), 7)->pod_uid, kPod);
}

TEST(AttachRulesTest, TheFileMustBeTrusted) {
  TemporaryFolder folder;
  const std::string path = folder.Write("rules.json", R"([{"name": "vllm", "user": "root"}])");
  EXPECT_TRUE(ReadAttachRules(path).ok());
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadAttachRules(path).status()));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  if (chown(path.c_str(), 1001, 1001) == 0 && geteuid() == 0) {
    EXPECT_TRUE(absl::IsPermissionDenied(ReadAttachRules(path).status())) << "another user's";
  }
  EXPECT_FALSE(ReadAttachRules(folder.File("none")).ok());
}

}  // namespace
}  // namespace utlz
