#include "tools/exporter/find_places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

constexpr char kPodCgroup[] =
    "0::/kubepods.slice/kubepods-burstable.slice/"
    "kubepods-burstable-pod1f0a7f4e_58f1_4b38_9d2c_9b1c0a1b2c3d.slice/"
    "cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n";

std::string Environment(std::initializer_list<std::string> entries) {
  std::string environment;
  for (const std::string& entry : entries) environment += entry + '\0';
  return environment;
}

void Write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

TEST(PlaceIn, Pod) {
  const ProcessPlace place = PlaceIn(
      Environment({"A=POD_NAME=no", "HOSTNAME=trainer-0", "POD_NAMESPACE=research", "POD_NAMES=x"}),
      kPodCgroup);
  EXPECT_EQ(place.pod, "trainer-0");
  EXPECT_EQ(place.pod_uid, "1f0a7f4e-58f1-4b38-9d2c-9b1c0a1b2c3d");
  EXPECT_EQ(place.pod_namespace, "research");
  EXPECT_EQ(place.container, "0123456789ab");
  EXPECT_EQ(place.job, "");
}

TEST(PlaceIn, PodOfTheOlderCgroups) {
  EXPECT_EQ(
      PlaceIn("", "4:memory:/kubepods/podx/pod1f0a7f4e-58f1-4b38-9d2c-9b1c0a1b2c3d/ab\n").pod_uid,
      "1f0a7f4e-58f1-4b38-9d2c-9b1c0a1b2c3d");
}

TEST(PlaceIn, BatchJob) {
  const ProcessPlace place =
      PlaceIn(Environment({"SLURM_JOB_ID=", "SLURM_JOBID=4711", "HOSTNAME=node7"}),
              "0::/system.slice/slurmstepd.scope/job_4711/step_0\n");
  EXPECT_EQ(place.job, "4711");
  EXPECT_EQ(place.pod, "") << "a host name is a pod's in Kubernetes alone";
  EXPECT_EQ(place.container, "");
}

TEST(PlaceIn, Rubbish) {
  for (const std::string& text : {std::string("pod"), std::string("podpod"), std::string(100, 'a'),
                                  std::string("=\0=\0", 4), std::string("pod\xff")}) {
    const ProcessPlace place = PlaceIn(text, text);
    EXPECT_EQ(place.pod_uid, "");
    EXPECT_EQ(place.job, "");
  }
}

TEST(FindPlaces, ReadsProc) {
  const TemporaryFolder folder;
  const std::filesystem::path proc = folder.path();
  Write(proc / "42/environ", Environment({"SLURM_JOB_ID=815"}));
  for (const char* bus : {"0000:86:00.0", "0000:3b:00.0"}) {
    Write(
        proc / "driver/nvidia/gpus" / bus / "information",
        std::string("Model: \t\t NVIDIA\nDevice Minor: \t ") + (bus[5] == '8' ? "0" : "1") + "\n");
  }
  EXPECT_EQ(FindProcess(proc.string(), 42).job, "815");
  EXPECT_EQ(FindProcess(proc.string(), 43).job, "");
  const DevicePlace device = FindDevice(proc.string(), "0000:86:00.0");
  EXPECT_EQ(device.index, "1");
  EXPECT_EQ(device.file, "nvidia0");
  EXPECT_EQ(FindDevice(proc.string(), "0000:99:00.0").index, "");
}

}  // namespace
}  // namespace utlz
