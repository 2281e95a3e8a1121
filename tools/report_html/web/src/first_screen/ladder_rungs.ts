// The ladder: what one unit of work takes now, and what it would take if one loss after another
// were gone. Each rung holds the ones above it.
import * as format from "../format";
import type { Ladder, LadderRung } from "../summary";

export interface LadderRow {
  name: string;
  label: string;
  meaning?: string;
  time_ns: number;
  error_ns?: number;
  before_ns?: number;   // the same rung of the run before
  part: number;         // of the longest bar, 0…1
  before_part?: number;
  speedup?: string;     // "1.80×"; none of the rung "now"
}

const LABELS: Record<string, string> = {
  no_idle: "no idle time",
  at_roofline: "at the rooflines",
  at_peak: "at peak FLOP/s",
};

function labelOf(rung: LadderRung, unit: string | undefined): string {
  if (rung.name === "now") return unit === undefined || unit === "run" ? "now" : `one ${unit}, now`;
  return LABELS[rung.name ?? ""] ?? rung.name ?? "";
}

function timesOf(ladder: Ladder | undefined): Map<string, number> {
  return new Map((ladder?.rungs ?? []).flatMap(({ name, time_ns }) =>
    (name !== undefined && time_ns !== undefined ? [[name, time_ns]] : [])));
}

function speedupText(rung: LadderRung): string | undefined {
  return rung.name === "now" || rung.speedup === undefined ? undefined
    : `${format.plain(rung.speedup)}×`;
}

// Nothing where only "now" is known. Runs of different units are not compared.
export function ladderRows(ladder: Ladder | undefined, before?: Ladder): LadderRow[] {
  const rungs = (ladder?.rungs ?? []).filter((rung) => (rung.time_ns ?? -1) >= 0);
  if (rungs.length < 2) return [];
  const old = before?.unit === ladder?.unit ? timesOf(before) : new Map<string, number>();
  const longest = Math.max(...rungs.map((rung) => rung.time_ns as number), ...old.values());
  if (!(longest > 0)) return [];
  return rungs.map((rung) => {
    const beforeNs = old.get(rung.name ?? "");
    return {
      name: rung.name ?? "", label: labelOf(rung, ladder?.unit), meaning: rung.text,
      time_ns: rung.time_ns as number, error_ns: rung.time_error_ns, before_ns: beforeNs,
      part: (rung.time_ns as number) / longest,
      before_part: beforeNs === undefined ? undefined : beforeNs / longest,
      speedup: speedupText(rung),
    };
  });
}

const WORTH_SAYING = 0.01;

// What stays as it is in every rung.
export function keptText(ladder: Ladder | undefined): string {
  const kept = ladder?.time_kept_ns ?? 0;
  const now = ladder?.rungs?.[0]?.time_ns ?? 0;
  if (kept <= WORTH_SAYING * now) return "";
  return `${format.time(kept)} of kernels without counters stay as they are in each.`;
}
