// Where things stand on the roofline: log-log scales that hold every kernel and the ridge, and the
// ceilings of a device.
import { scaleLog, type ScaleLogarithmic } from "d3-scale";
import { placeOf } from "./measured";
import type { Device, Kernel } from "./summary";

export interface Point { kernel: Kernel; intensity: number; rate: number; radius: number }
export type Scale = ScaleLogarithmic<number, number>;

export interface Ceiling {
  kind: "compute" | "memory";
  label: string;
  limit: number;               // FLOP/s, or bytes/s for memory
  style: "peak" | "maximum" | "attained";
  used: boolean;               // some kernel uses this data type
}

export function pointsOf(kernels: Kernel[], largestRadius: number): Point[] {
  const drawn = kernels.flatMap((kernel) => {
    const place = placeOf(kernel);
    return place ? [{ kernel, ...place }] : [];
  });
  const longest = Math.max(1, ...drawn.map(({ kernel }) => kernel.time_ns ?? 0));
  return drawn
    .map(({ kernel, intensity, rate }) => ({
      kernel,
      intensity,
      rate,
      radius: Math.max(2.5, largestRadius * Math.sqrt((kernel.time_ns ?? 0) / longest)),
    }))
    .sort((a, b) => b.radius - a.radius);
}

function usedTypes(kernels: Kernel[]): Set<string> {
  const used = new Set<string>();
  for (const kernel of kernels) {
    for (const part of kernel.flops_by_type ?? []) {
      if (part.data_type && (part.flops ?? 0) > 0) used.add(part.data_type);
    }
  }
  return used;
}

// Data types with one limit (bf16 and fp16) share a line.
function merged(ceilings: Ceiling[]): Ceiling[] {
  const result: Ceiling[] = [];
  for (const ceiling of ceilings) {
    const same = result.find((other) => other.kind === ceiling.kind &&
      other.style === ceiling.style && Math.abs(other.limit / ceiling.limit - 1) < 0.005);
    if (!same) {
      result.push({ ...ceiling });
    } else {
      same.label = `${same.label}, ${ceiling.label}`;
      same.used ||= ceiling.used;
    }
  }
  return result;
}

export function ceilingsOf(device: Device | undefined, kernels: Kernel[]): Ceiling[] {
  if (!device) return [];
  const used = usedTypes(kernels);
  const ceilings: Ceiling[] = [];
  const add = (kind: Ceiling["kind"], label: string, style: Ceiling["style"], limit?: number,
    isUsed = true) => {
    if (limit !== undefined && limit > 0) ceilings.push({ kind, label, limit, style, used: isUsed });
  };
  add("memory", "HBM", "peak", device.peak_dram_bytes_per_second);
  add("memory", "HBM", "attained", device.attained_dram_bytes_per_second);
  add("memory", "L2", "peak", device.peak_l2_bytes_per_second, false);
  for (const peak of device.peaks ?? []) {
    const label = peak.data_type ?? "?";
    const isUsed = used.has(label);
    add("compute", label, "peak", peak.flops_per_second, isUsed);
    add("compute", label, "maximum", peak.flops_per_second_maximum_clock, isUsed);
    add("compute", label, "attained", peak.attained_flops_per_second, isUsed);
  }
  return merged(ceilings);
}

export interface Scales { x: Scale; y: Scale }

export function scalesOf(points: Point[], ceilings: Ceiling[], width: number, height: number): Scales {
  const tops = ceilings.filter((ceiling) => ceiling.kind === "compute" && ceiling.used)
    .map((ceiling) => ceiling.limit);
  const memory = ceilings.find((ceiling) => ceiling.kind === "memory" && ceiling.label === "HBM");
  const ridges = memory ? tops.map((top) => top / memory.limit) : [];
  const xs = [...points.map((point) => point.intensity), ...ridges, 1];
  const ys = [...points.map((point) => point.rate), ...tops];
  const x = scaleLog().domain([Math.min(...xs) / 2, Math.max(...xs) * 4]).range([0, width]);
  const low = ys.length > 0 ? Math.min(...ys) : 1e9;
  const high = ys.length > 0 ? Math.max(...ys) : 1e12;
  const y = scaleLog().domain([low / 3, high * 2]).range([height, 0]);
  return { x, y };
}

function powersOfTen(low: number, high: number, stride: number, mantissas: number[]): number[] {
  const result = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    if (power % stride !== 0) continue;
    result.push(...mantissas.map((mantissa) => mantissa * 10 ** power));
  }
  return result.filter((value) => value >= low && value <= high);
}

// Round numbers inside the scale, as many as fit into `most`: on a scale of few decades also those
// between the powers of ten.
export function ticks(scale: Scale, most: number): number[] {
  const [low, high] = scale.domain();
  const decades = Math.log10(high / low);
  if (decades * 3 <= most) return powersOfTen(low, high, 1, [1, 2, 5]);
  if (decades * 2 <= most) return powersOfTen(low, high, 1, [1, 3]);
  return powersOfTen(low, high, Math.max(1, Math.ceil(decades / most)), [1]);
}
