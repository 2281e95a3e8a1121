"""A service that attaches by rule to real processes in real control groups: what a process calls
itself is not enough."""

import json
import pathlib
import shutil
import unittest

from attaching import Program
from control_groups import ControlGroups
from service import ServiceTest

POD = "0f3c2f6e-93f1-4f8e-8a53-1d3ab1c0a0de"
OTHER_POD = "0f3c2f6e-93f1-4f8e-8a53-1d3ab1c0a0df"
CONTAINER = "8e1c0a5d" * 8


def as_systemd_names_it(pod, container):
    """The group of a container, where the kubelet has systemd make groups."""
    slice_of_pod = f"kubepods-burstable-pod{pod.replace('-', '_')}.slice"
    return (f"kubepods.slice/kubepods-burstable.slice/{slice_of_pod}/"
            f"cri-containerd-{container}.scope")


def as_the_kubelet_names_it(pod, container):
    """The same, where it makes them itself."""
    return f"kubepods/burstable/pod{pod}/{container}"


class AttachRulesTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.groups = ControlGroups(self, f"utlz-{self.folder.name}")
        self.name = f"ruled-{self.folder.name}"
        shutil.copy(self.program("on_command"), self.folder / self.name)

    def start(self, group, **additions):
        """A program of a name that no other test's has, in a group."""
        program = Program(str(self.folder / self.name), {**self.test_environment, **additions},
                          self.folder)
        self.addCleanup(program.close)
        self.groups.move(program.pid, group)
        program.do("launch 10")
        return program

    def service_with(self, **rule):
        rules = self.folder / "rules.json"
        rules.write_text(json.dumps([{"name": self.name, **rule}]), "utf-8")
        return self.service("--rules", str(rules))

    def has_agent(self, program):
        """Whether an agent's thread is in it."""
        return any(task.joinpath("comm").read_text("utf-8").startswith("utlz-")
                   for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir())

    def assert_launches(self, launches):
        """Of the one job, since one session started all."""
        [report] = self.reports()
        self.assertEqual(sum(self.launches_by_name(report).values()), launches)

    def test_control_group(self):
        """That of the rule and those below it, and none whose name only begins alike. A process
        that comes into it later is found then."""
        beside = self.start("service-beside")
        within = self.start("service/worker")
        service = self.service_with(cgroup=f"{self.groups.path}/service")
        # Processes are looked at in order, so that the first was by then.
        self.assertIn(f"process {within.pid} ", service.wait_for("by a rule"))
        self.assertFalse(self.has_agent(beside))
        self.groups.move(beside.pid, "service")
        self.assertIn(f"process {beside.pid} ", service.wait_for("by a rule"))
        within.do("launch 20")
        beside.do("launch 30")
        self.assertEqual((within.quit(), beside.quit()), (0, 0))
        service.stop()
        self.assert_launches(20 + 30)

    def pods(self, group_of):
        """Two pods have a process of the same name and user. The rule names one of them."""
        other = self.start(group_of(OTHER_POD, CONTAINER[::-1]), POD_NAME="other")
        one = self.start(group_of(POD, CONTAINER), POD_NAME="server-0", POD_NAMESPACE="serving")
        service = self.service_with(pod=POD)
        self.assertIn(f"process {one.pid} ", service.wait_for("by a rule"))
        self.assertFalse(self.has_agent(other))
        one.do("launch 20")
        self.assertEqual(one.quit(), 0)
        service.wait_for("server-0: 1 process, profile:")
        service.stop()
        [report] = self.reports()
        [process] = report["processes"]
        self.assertEqual((process["pod"], process["pod_namespace"], process["container"]),
                         ("server-0", "serving", CONTAINER[:12]))
        self.assert_launches(20)

    def test_pod_of_systemds_groups(self):
        self.pods(as_systemd_names_it)

    def test_pod_of_the_kubelets_groups(self):
        self.pods(as_the_kubelet_names_it)


if __name__ == "__main__":
    unittest.main()
