import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Change } from "./summary";

const UNITS: Record<string, (value?: number) => string> = {
  ns: format.time,
  share: format.preciseShare,
  B: format.bytes,
  FLOP: format.flops,
};

// "sm_active_share" as a person would say it.
function labelOf(quantity: string): string {
  return quantity.replaceAll("_", " ").replace(/ (ns|hz|share|watts|joules|bytes)$/, "")
    .replace(/\b(hfu|mfu|gpu|sm|hbm|dram)\b/g, (word) => word.toUpperCase())
    .replace("flops", "FLOPs");
}

function textOf(unit: string): (value?: number) => string {
  return UNITS[unit] ?? ((value) => format.withPrefix(value, unit.replace(/^1/, "")));
}

// Relative where there is something to relate to; the error in the same unit.
function changeText(change: Change, unit: string): string {
  const { before, delta, relative_delta, error } = change;
  if (relative_delta === undefined || !before) {
    return format.signed(delta, textOf(unit)) + format.plusMinus(error, textOf(unit));
  }
  const relativeError = error === undefined ? undefined : error / Math.abs(before);
  return format.signed(relative_delta, format.share) + format.plusMinus(relativeError, format.share);
}

function VerdictCell({ change, moreIsBetter, unit }:
  { change: Change; moreIsBetter: boolean; unit: string }) {
  if (change.verdict === "no_difference") return <td class="muted">no difference</td>;
  if (change.verdict === "unknown") return <td class="muted">unknown</td>;
  if (change.verdict === "appeared") return <td>new</td>;
  if (change.verdict === "gone") return <td>gone</td>;
  const better = (change.verdict === "increase") === moreIsBetter;
  return (
    <td class={better ? "better" : "worse"}>
      {changeText(change, unit)} {better ? "better" : "worse"}
    </td>
  );
}

function Row({ name, change, unit, moreIsBetter }:
  { name: string; change: Change; unit: string; moreIsBetter: boolean }) {
  const text = textOf(unit);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{text(change.before)}</td>
      <td>{text(change.after)}</td>
      <VerdictCell change={change} moreIsBetter={moreIsBetter} unit={unit} />
    </tr>
  );
}

const GONE_LISTED = 10;

// What is on the other side only has no row in the kernel table.
function Gone() {
  const { difference } = useReport();
  const gone = (difference?.kernels ?? []).filter((kernel) => kernel.time_ns.verdict === "gone");
  if (gone.length === 0) return null;
  return (
    <p>Gone: {gone.slice(0, GONE_LISTED).map((kernel) =>
      `${kernel.name_before} (${format.time(kernel.time_ns.before)})`).join(", ")}
      {gone.length > GONE_LISTED && ` and ${gone.length - GONE_LISTED} more`}</p>
  );
}

export function Comparison() {
  const { difference } = useReport();
  if (!difference) return null;
  return (
    <Section id="comparison" title="Against the run before"
      note={`Times are per ${difference.per_step ? "step" : "run"}; ± is the 95 % interval of the change.`}>
      <p class="verdict">{difference.verdict}</p>
      {difference.caveats.map((caveat) => <p class="withheld">{caveat}</p>)}
      <div class="scroll"><table class="plain">
        <thead><tr><th /><th scope="col">before</th><th scope="col">after</th>
          <th scope="col">change</th></tr></thead>
        <tbody>
          {difference.quantities.map(({ name, unit, more_is_better, change }) => (
            <Row name={labelOf(name)} change={change}
              unit={unit} moreIsBetter={more_is_better} />
          ))}
          {difference.slices.map(({ name, time_ns }) => (
            <Row name={name} change={time_ns} unit="ns"
              moreIsBetter={name.toLowerCase().includes("useful")} />
          ))}
        </tbody>
      </table></div>
      <Gone />
    </Section>
  );
}
