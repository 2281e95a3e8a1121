#include "tools/collector_service/job_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/metrics/label_text.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;

constexpr uid_t kAlice = 1000;
constexpr uid_t kBob = 1001;

class JobIdentityTest : public ::testing::Test {
 protected:
  // A process as /proc shows it.
  JobIdentity Identify(pid_t pid, uid_t user, const std::string& environment,
                       const std::string& cgroup = "0::/user.slice\n",
                       const std::string& stat = "") const {
    const std::string folder = std::to_string(pid) + "/";
    proc_.Write(folder + "environ", environment);
    proc_.Write(folder + "cgroup", cgroup);
    proc_.Write(folder + "stat",
                stat.empty() ? std::to_string(pid) + " (python3) S 1 77 77 0 -1" : stat);
    proc_.Write(folder + "cmdline", std::string("python3\0train.py\0", 17));
    return IdentifyJob(proc_.path(), pid, user);
  }

  TemporaryFolder proc_;
};

TEST_F(JobIdentityTest, ABatchSystemsJobIsOne) {
  const std::string slurm("SLURM_JOB_ID=4711\0A=b\0", 22);
  const JobIdentity one = Identify(10, kAlice, slurm);
  EXPECT_EQ(one.name, "4711");
  EXPECT_THAT(one.command, ElementsAre("python3", "train.py"));
  EXPECT_EQ(one.key, Identify(11, kAlice, slurm).key);
}

TEST_F(JobIdentityTest, NobodyGetsIntoAnotherUsersJob) {
  const std::string slurm("SLURM_JOB_ID=4711\0", 18);
  EXPECT_NE(Identify(10, kAlice, slurm).key, Identify(11, kBob, slurm).key);
  EXPECT_NE(Identify(10, kAlice, "").key, Identify(11, kBob, "").key);
  // Nor by a name that looks like another kind of key.
  const std::string odd("UTLZ_JOB=../session/77\0", 23);
  EXPECT_NE(Identify(10, kAlice, odd).key, Identify(11, kAlice, "").key);
}

TEST_F(JobIdentityTest, UtlzJobComesFirst) {
  const std::string both("SLURM_JOB_ID=4711\0UTLZ_JOB=mine\0", 32);
  EXPECT_EQ(Identify(10, kAlice, both).name, "mine");
}

TEST_F(JobIdentityTest, APodIsKnownByTheKernel) {
  const std::string cgroup =
      "0::/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/x\n";
  const std::string name("POD_NAME=web\0", 13);
  const JobIdentity pod = Identify(10, kAlice, name, cgroup);
  EXPECT_EQ(pod.name, "web");
  EXPECT_EQ(pod.key, Identify(11, kAlice, "", cgroup).key) << "whatever its name says";
}

TEST_F(JobIdentityTest, ElseTheSessionOfProcesses) {
  EXPECT_EQ(Identify(10, kAlice, "").key, Identify(11, kAlice, "").key);
  EXPECT_NE(Identify(10, kAlice, "").key,
            Identify(12, kAlice, "", "", "12 (python3) S 1 12 12 0").key);
  EXPECT_EQ(Identify(10, kAlice, "").name, "python3-77");
}

TEST_F(JobIdentityTest, AProgramsNameMayHoldAnything) {
  EXPECT_EQ(ParseStat("5 (a) S 1 2 3) R 1 2 99 0").session, 99);
  EXPECT_EQ(ParseStat("5 (a) S 1 2 3) R 1 2 99 0").program, "a) S 1 2 3");
  for (const char* broken : {"", "(", ")", ")(", "5 (x", "5 (x) S", "5 (x) S a b c"}) {
    EXPECT_EQ(ParseStat(broken).session, 0) << broken;
  }
  const JobIdentity job = Identify(10, kAlice, "UTLZ_JOB=\x1b[31m" + std::string(5000, 'x'));
  EXPECT_LE(job.name.size(), kMaxLabelBytes);
  EXPECT_EQ(job.name.find('\x1b'), std::string::npos);
}

TEST_F(JobIdentityTest, AProcessThatCannotBeSeenHasAJobAllTheSame) {
  EXPECT_EQ(IdentifyJob(proc_.path(), 0, kAlice).name, "unknown-0");
  EXPECT_NE(IdentifyJob(proc_.path(), 0, kAlice).key, IdentifyJob(proc_.path(), 0, kBob).key);
  EXPECT_EQ(IdentifyJob(proc_.path(), 99, kAlice).name, "unknown-0");
}

}  // namespace
}  // namespace utlz
