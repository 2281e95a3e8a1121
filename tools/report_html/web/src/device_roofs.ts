// Which GPUs stand under one roof, as tools/report/device_roofs.h has it: those of one name with the
// same peaks at the highest clock. A kernel is judged by the roof of the GPU that it ran on.
import type { Device, Kernel, Summary } from "./summary";

const SAME_ROOF = 0.02;

// What one of them does not know does not speak against the other.
function agree(a: number | undefined, b: number | undefined): boolean {
  return !a || !b || Math.abs(a - b) <= SAME_ROOF * Math.max(a, b);
}

export function shareRoof(a: Device, b: Device): boolean {
  const peaks = new Map((b.peaks ?? []).map((peak) =>
    [peak.data_type, peak.flops_per_second_maximum_clock]));
  return a.name === b.name &&
    agree(a.peak_dram_bytes_per_second, b.peak_dram_bytes_per_second) &&
    (a.peaks ?? []).every((peak) =>
      agree(peak.flops_per_second_maximum_clock, peaks.get(peak.data_type)));
}

export function allShareRoof(devices: Device[]): boolean {
  return devices.every((device) => shareRoof(devices[0], device));
}

// The first where none is named, or one that is not listed.
export function deviceOf(summary: Summary, kernel: Kernel): Device | undefined {
  return summary.devices.find((device) => device.uuid === kernel.device_uuid) ?? summary.devices[0];
}

export function deviceLabel(summary: Summary, device: Device): string {
  return `${summary.devices.indexOf(device)}: ${device.name ?? device.uuid ?? "?"}`;
}

// Nothing where there is one only.
export function deviceLabelOf(summary: Summary, kernel: Kernel): string | undefined {
  const device = deviceOf(summary, kernel);
  return device && summary.devices.length > 1 ? deviceLabel(summary, device) : undefined;
}

// The GPU under whose roof the kernels that have a place take most time.
export function deviceOfMostTime(summary: Summary, kernels: Kernel[]): Device | undefined {
  const times = new Map<Device, number>();
  for (const kernel of kernels) {
    const device = deviceOf(summary, kernel);
    if (device) times.set(device, (times.get(device) ?? 0) + (kernel.time_ns ?? 0));
  }
  let most = 0;
  let chosen = summary.devices[0];
  for (const device of summary.devices) {
    const time = [...times].reduce((sum, [other, its]) => sum + (shareRoof(device, other) ? its : 0), 0);
    if (time > most) [most, chosen] = [time, device];
  }
  return chosen;
}
