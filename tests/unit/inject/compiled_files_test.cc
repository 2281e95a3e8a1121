// Which files of Inductor's are read, and what goes on the wire.
#include "inject/record/compiled_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz::agent {
namespace {

constexpr char kText[] =
    "    # Source Nodes: [x], Original ATen: [aten.add]\n"
    "    stream0 = get_raw_stream(0)\n"
    "    triton_0.run(buf0)\n"
    "    # Source Nodes: [y], Original ATen: [aten.mm]\n"
    "    extern_kernels.mm(buf0)\n";

class CompiledFilesTest : public ::testing::Test {
 protected:
  CompiledFilesTest() {
    EXPECT_TRUE(files_.Create());
    EXPECT_TRUE(strings_.Create());
    std::string name = ::testing::TempDir() + "compiled_files_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CompiledFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
  CompiledFiles files_;
  StringTable strings_;
};

TEST_F(CompiledFilesTest, WhatAFileSaysGoesOnTheWire) {
  const std::string path = File("a.py", kText);
  ASSERT_TRUE(files_.Read(path.c_str()));
  files_.Name(&strings_);
  std::vector<uint8_t> bytes(4096);
  ByteBuffer message(bytes.data(), static_cast<uint32_t>(bytes.size()));
  files_.Write(7, &message);
  CompiledCode code;
  ASSERT_TRUE(code.ParseFromArray(message.data(), static_cast<int>(message.size())));
  EXPECT_EQ(code.file(), 7u);
  ASSERT_EQ(code.line_size(), 2);
  EXPECT_EQ(code.line(0), 2u);
  EXPECT_EQ(code.lines(0), 2u);
  EXPECT_EQ(code.line(1), 5u);
  EXPECT_EQ(code.lines(1), 1u);
  EXPECT_STREQ(strings_.Text(code.operations(0)), "aten.add");
  EXPECT_STREQ(strings_.Text(code.operations(1)), "aten.mm");
}

TEST_F(CompiledFilesTest, OnlyRegularFilesOfNoGreatSizeAreRead) {
  const std::string path = File("a.py", kText);
  const std::string link = folder_ / "link.py", fifo = folder_ / "fifo.py";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(files_.Read(path.c_str()));
  EXPECT_FALSE(files_.Read(link.c_str()));
  EXPECT_FALSE(files_.Read(fifo.c_str())) << "and nobody waits for a writer";
  EXPECT_FALSE(files_.Read(folder_.c_str()));
  EXPECT_FALSE(files_.Read((folder_ / "none.py").c_str()));
  EXPECT_FALSE(files_.Read("")) << "no path";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  EXPECT_FALSE(files_.Read("a.py")) << "the end of a path that was cut";
  std::filesystem::current_path(before);
  std::filesystem::resize_file(path, CompiledFiles::kMostFileBytes);
  EXPECT_TRUE(files_.Read(path.c_str()));
  std::filesystem::resize_file(path, CompiledFiles::kMostFileBytes + 1);
  EXPECT_FALSE(files_.Read(path.c_str()));
}

TEST_F(CompiledFilesTest, NothingStaysOfTheFileBefore) {
  ASSERT_TRUE(files_.Read(File("a.py", kText).c_str()));
  files_.Release();
  EXPECT_FALSE(files_.Read(File("b.py", "pass\n").c_str()));
  std::vector<uint8_t> bytes(4096);
  ByteBuffer message(bytes.data(), static_cast<uint32_t>(bytes.size()));
  files_.Write(8, &message);
  CompiledCode code;
  ASSERT_TRUE(code.ParseFromArray(message.data(), static_cast<int>(message.size())));
  EXPECT_EQ(code.line_size(), 0);
}

TEST_F(CompiledFilesTest, LaunchesOfOneFileAreBounded) {
  std::string text;
  for (uint32_t i = 0; i < CompiledFiles::kMostLaunches + 10; ++i) {
    text += "  # Source Nodes: [], Original ATen: [aten.add]\n  x.run(\n";
  }
  ASSERT_TRUE(files_.Read(File("a.py", text).c_str()));
  files_.Name(&strings_);
  std::vector<uint8_t> bytes(1 << 20);
  ByteBuffer message(bytes.data(), static_cast<uint32_t>(bytes.size()));
  files_.Write(1, &message);
  CompiledCode code;
  ASSERT_TRUE(code.ParseFromArray(message.data(), static_cast<int>(message.size())));
  EXPECT_EQ(code.line_size(), static_cast<int>(CompiledFiles::kMostLaunches));
}

TEST_F(CompiledFilesTest, EachFileIsReadOnceAndTheFirstOnesOnly) {
  files_.Add(5);
  files_.Add(6);
  files_.Add(5);
  files_.Add(0);
  EXPECT_EQ(files_.Next(), 5u);
  files_.Add(5);
  EXPECT_EQ(files_.Next(), 6u);
  EXPECT_EQ(files_.Next(), 0u);
  for (uint32_t i = 0; i < 2 * CompiledFiles::kMostFiles; ++i) files_.Add(100 + i);
  uint32_t count = 2;
  while (files_.Next() != 0) ++count;
  EXPECT_EQ(count, CompiledFiles::kMostFiles);
  files_.Clear();
  files_.Add(5);
  EXPECT_EQ(files_.Next(), 5u) << "another reader knows nothing";
}

}  // namespace
}  // namespace utlz::agent
