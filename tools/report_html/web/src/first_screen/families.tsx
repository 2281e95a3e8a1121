import { useReport } from "../context";
import * as format from "../format";
import { Section } from "../section";
import { familyTable, isPerStep, type FamilyRow } from "./family_rows";

function Bar({ bar }: { bar: FamilyRow["bar"] }) {
  const percent = (part: number) => ({ width: `${part * 100}%` });
  return (
    <span class="family-bar" aria-hidden="true">
      <i class="at-roof" style={percent(bar.at_roof)} />
      <i class="above-roof" style={percent(bar.above_roof)} />
      <i class="uncounted" style={percent(bar.uncounted)} />
    </span>
  );
}

function Row({ row, withUncounted }: { row: FamilyRow; withUncounted: boolean }) {
  const hbm = row.dram_peak_share === undefined ? undefined : `${format.share(row.dram_peak_share)} of HBM's peak`;
  const uncounted = row.uncounted_share === undefined ? "" : format.share(row.uncounted_share);
  return (
    <tr data-family={row.family}>
      <th scope="row"><span class="family-name"><b>{row.family}</b><Bar bar={row.bar} /></span>
        {uncounted && <small class="narrow">{uncounted} uncounted</small>}</th>
      <td>{format.time(row.time_ns)}</td>
      <td>{format.share(row.share)}</td>
      <td title={hbm}>{format.byteRate(row.dram_bytes_per_second)}</td>
      <td>{format.time(row.above_roof_ns)}</td>
      {withUncounted && <td class="wide">{uncounted}</td>}
    </tr>
  );
}

const KEYS: [keyof FamilyRow["bar"], string, string][] = [
  ["at_roof", "at-roof", "what the roofline needs"],
  ["above_roof", "above-roof", "above the roof"],
  ["uncounted", "uncounted", "no roofline known"],
];

function Legend({ rows, withUncounted }: { rows: FamilyRow[]; withUncounted: boolean }) {
  const isShown = (part: keyof FamilyRow["bar"]) => rows.some((row) => row.bar[part] > 0) &&
    (part !== "uncounted" || withUncounted || rows.some((row) => row.above_roof_ns === undefined));
  return (
    <p class="legend">
      {KEYS.filter(([part]) => isShown(part)).map(([, name, text]) => (
        <span class="entry"><i class={`key ${name}`} />{text}</span>
      ))}
    </p>
  );
}

// Where the GPU's time goes, by the kind of work.
export function Families() {
  const { summary } = useReport();
  const table = familyTable(summary);
  const { rows, small, small_time_ns: smallTime } = table;
  if (rows.length === 0) return null;
  const perStep = isPerStep(summary);
  const perGpu = perStep && summary.devices.length > 1;
  return (
    <Section id="families" title="Where the GPU's time goes">
      <div class="scroll"><table class="plain families">
        <thead><tr><th scope="col">{perGpu ? "family (per GPU)" : "family"}</th><th scope="col">{perStep ? "a step" : "time"}</th>
          <th scope="col">share</th><th scope="col">HBM</th><th scope="col">above roof</th>
          {table.some_uncounted && <th scope="col" class="wide">uncounted</th>}</tr></thead>
        <tbody>{rows.map((row) =>
          <Row row={row} withUncounted={table.some_uncounted} />)}</tbody>
      </table></div>
      <Legend rows={rows} withUncounted={table.some_uncounted} />
      {small.length > 0 && <p class="note">Less than 1 % each: {small.join(", ")}, together{" "}
        {format.time(smallTime)}{perStep && " a step"}.</p>}
    </Section>
  );
}
