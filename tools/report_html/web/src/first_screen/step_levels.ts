// The steps in one sentence: those of the level that all figures are of, what holds them, and what
// they hold.
import * as format from "../format";
import type { StepLevel, Steps, Summary } from "../summary";

// Tracing that adds less to a step than this share of it is not worth a word here.
const WORTH_SAYING = 0.02;

// Fewer launches need no steps.
const MANY_LAUNCHES = 1000;

// In generation the first step of a call reads the prompt, and takes another time than a token.
function prefillText(outer: StepLevel): string {
  const { prefill_time_ns: first, decode_time_mean_ns: others } = outer;
  if (first === undefined || others === undefined) return "";
  return ` (the first, prefill, ${format.time(first)}; then ${format.time(others)} each)`;
}

// An estimate is no whole number. Where what ran after the last traced step was not counted, it may
// have been more steps.
function countText(level: StepLevel, steps: Steps): string {
  const count = level.count ?? 0;
  const whole = Math.abs(count - Math.round(count)) < 1e-6;
  const name = level.name ?? "step";
  return (steps.after_traced === undefined ? "at least " : whole ? "" : "about ") +
    format.counted(Math.round(count), name, `${name}s`);
}

function timeText(level: StepLevel): string {
  const time = level.time_mean_ns ?? level.time_p50_ns;
  return time === undefined ? "" : ` of ${format.time(time)}`;
}

function outerText(outer: StepLevel | undefined, steps: Steps): string {
  if (!outer) return "";
  const name = outer.name ?? "part";
  const of = outer.count === undefined ? `each ${name}` : countText(outer, steps);
  if (outer.inner === undefined) return `, in ${of}${timeText(outer)}`;
  const among = outer.count === undefined ? "in" : "in each of";
  return `, ${format.countOrMean(outer.inner)} ${among} ${of}${timeText(outer)}${prefillText(outer)}`;
}

function eachText(level: StepLevel): string {
  const time = level.time_mean_ns ?? level.time_p50_ns;
  return time === undefined ? "" : `, ${format.time(time)} each`;
}

function innerText(level: StepLevel, inner: StepLevel | undefined): string {
  const parts = [];
  if (level.launches !== undefined) parts.push(format.counted(level.launches, "launch", "launches"));
  if (inner && level.inner !== undefined) {
    const size = inner.launches === undefined ? timeText(inner)
      : ` of ${format.counted(inner.launches, "launch", "launches")}${eachText(inner)}`;
    parts.push(`${format.countOrMean(level.inner)} equal ${inner.name ?? "part"}s${size}`);
  }
  return parts.length > 0 ? `; one ${level.name ?? "step"} has ${parts.join(", among them ")}` : "";
}

function spreadText(steps: Steps): string {
  const { time_minimum_ns: least, time_maximum_ns: most, slowdown_time_ns: added } = steps;
  const parts = [];
  if (least !== undefined && most !== undefined) {
    parts.push(` The shortest took ${format.time(least)}, the longest ${format.time(most)}.`);
  }
  if ((added ?? 0) > WORTH_SAYING * (steps.time_mean_ns ?? Infinity)) {
    parts.push(` While traced, one took ${format.time((steps.time_mean_ns ?? 0) + (added ?? 0))}.`);
  }
  return parts.join("");
}

// "896 steps of 14.5 ms, 64 in each of 14 calls of 928 ms; one step has 961 launches and …"
export function stepsSentence(steps: Steps | undefined): string {
  const levels = steps?.levels ?? [];
  const index = levels.findIndex((level) => level.name === steps?.level);
  const at = index >= 0 ? index : levels.findIndex((level) => level.name === "step");
  if (!steps || at < 0 || levels[at].count === undefined) return "";
  const sentence = countText(levels[at], steps) + timeText(levels[at]) + outerText(levels[at - 1], steps) +
    `${innerText(levels[at], levels[at + 1])}.${spreadText(steps)}` +
    (steps.expected_note ? ` By --steps: ${steps.expected_note}.` : "");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

// Without steps all figures are of the whole run, and only the program's user can say what a step is.
export function noStepsSentence(summary: Summary): string {
  const launches = summary.kernels.reduce((sum, kernel) => sum + (kernel.launches ?? 0), 0);
  if (summary.steps || !summary.steady_state || launches < MANY_LAUNCHES) return "";
  return "No steps were found, since no kernel comes back after about the same number of launches; " +
    "all figures are of the whole run. utlz report --step-kernel NAME says which kernel begins a " +
    "step, and so do NVTX ranges (utlz run --nvtx).";
}
