import { useMemo, useState } from "preact/hooks";
import { BOUNDS } from "../bounds";
import { useReport } from "../context";
import * as format from "../format";
import { Section } from "../section";
import type { Owner, Owners, Summary } from "../summary";
import { Icicle } from "./icicle";
import { OwnerFacts } from "./owner_facts";
import {
  LISTS, findNode, makeTree, rowsOf, weightsOf, type OwnerListName, type OwnerNode, type Weight,
} from "./owner_tree";

// Nothing where no backward pass is known.
function passText(owners: Owners): string {
  const parts: [number | undefined, string][] = [[owners.backward_share, "are backward passes"],
    [owners.recomputation_share, "forward passes computed again for them"]];
  const known = parts.filter(([share]) => (share ?? 0) > 0);
  if (known.length === 0) return "";
  return ` ${known.map(([share, what]) => `${format.share(share)} ${what}`).join(", ")}.`;
}

// What belongs to others than layers; nothing where nothing does.
function otherOwnersText(owners: Owners): string {
  const parts: [number | undefined, string][] = [[owners.function_share,
    "functions outside of layers"], [owners.optimizer_share, "optimizers"],
    [owners.autotuning_share, "autotuning"]];
  const known = parts.filter(([share]) => (share ?? 0) > 0);
  if (known.length === 0) return "";
  return `; ${known.map(([share, what], index) =>
    `${format.share(share)} ${index === 0 ? "is " : ""}of ${what}`).join(", ")}`;
}

// What compilers launch to try kernels, before the first step, has no owner, and is none of the
// steps'.
function coverageOfStepsText(owners: Owners): string {
  if (owners.steady_state_line_share === undefined) return "";
  return ` In the steps alone ${format.share(owners.steady_state_line_share)} has a line, ` +
    `${format.share(owners.steady_state_layer_share)} a layer, ` +
    `${format.share(owners.steady_state_inferred_share)} an inferred one; ` +
    `${format.share(owners.steady_state_ownerless_share)} has no owner.`;
}

// How much has an owner at all. Without stacks operations alone are known, from kernels' names.
function coverageText(owners: Owners): string {
  const note = owners.note ? ` Note: ${owners.note}.` : "";
  if (owners.line_share === undefined) {
    return `No stacks of launches were recorded: utlz run --stacks=auto reads them.${note}`;
  }
  return `Of the kernels' time ${format.share(owners.line_share)} has a line, ` +
    `${format.share(owners.layer_share)} a layer, ${format.share(owners.inferred_share)} an ` +
    `inferred one${otherOwnersText(owners)}; ${format.share(owners.ownerless_share)} has no ` +
    `owner.${passText(owners)}${coverageOfStepsText(owners)}${note}`;
}

// The families of kernels stand in a table of their own: operations are worth a section once a
// compiler named some, or beside lines.
function listsOf(summary: Summary): typeof LISTS {
  const named = rowsOf(summary, "operations").some((row) => row.origin !== "family");
  const hasLines = rowsOf(summary, "lines").length > 0;
  return LISTS.filter(({ list }) => rowsOf(summary, list).length > 0 &&
    (list !== "operations" || named || hasLines));
}

function uncountedText(rows: Owner[], weight: Weight): string {
  if (weight !== "flops" && weight !== "bytes" && weight !== "savings") return "";
  const tops = rows.filter((row) => row.parent === undefined);
  const sum = (value: (row: Owner) => number | undefined) =>
    tops.reduce((all, row) => all + (value(row) ?? 0), 0);
  const share = sum((row) => row.time_without_counters_ns) / sum((row) => row.time_ns);
  return share > 0 ? ` Kernels without counters, ${format.share(share)} of the time, have no width.` : "";
}

function Choice<T extends string>({ label, value, options, choose }:
  { label: string; value: T; options: { value: T; label: string }[]; choose: (value: T) => void }) {
  return (
    <label>{label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value as T)}>
        {options.map((option) => <option value={option.value}>{option.label}</option>)}
      </select></label>
  );
}

function Legend({ rows }: { rows: Owner[] }) {
  const present = new Set(rows.map((row) => row.bound ?? "unknown"));
  return (
    <p class="legend">Most of a part's time is bound by{" "}
      {BOUNDS.filter(({ bound }) => present.has(bound)).map(({ label, color }) => (
        <span class="bound-name"><i class="dot" style={{ background: color }} />{label} </span>
      ))}
    </p>
  );
}

function Graph({ lists }: { lists: typeof LISTS }) {
  const { summary, selection, select, ownerKernels } = useReport();
  const [chosenList, chooseList] = useState<OwnerListName>();
  const [chosenWeight, chooseWeight] = useState<Weight>("time");
  const [active, setActive] = useState<string>();
  const { list, label } = lists.find((one) => one.list === (selection.owner?.list ?? chosenList)) ??
    lists[0];
  const rows = rowsOf(summary, list);
  const weights = weightsOf(rows);
  const weight = weights.find((one) => one.weight === chosenWeight)?.weight ?? "time";
  const root = useMemo(() => makeTree(rows, list, weight), [rows, list, weight]);
  const zoomed = findNode(root, selection.owner?.key) ?? root;
  const choose = (node: OwnerNode) => select({ kind: "owner", owner: node === root || node === zoomed
    ? undefined : { list, key: node.key, name: node.owner.name ?? node.label, rows: node.rows } });
  return (
    <>
      <div class="tools">
        <Choice label="Show" value={list}
          options={lists.map((one) => ({ value: one.list, label: one.label }))}
          choose={(value) => { select({ kind: "owner" }); chooseList(value); }} />
        <Choice label="Width" value={weight}
          options={weights.map((one) => ({ value: one.weight, label: one.label }))}
          choose={chooseWeight} />
        {zoomed !== root && <button type="button" onClick={() => select({ kind: "owner" })}>
          Show all</button>}
      </div>
      <Icicle label={`Work by ${label}.`} zoomed={zoomed} active={active} setActive={setActive}
        choose={choose} />
      <Legend rows={rows} />
      {uncountedText(rows, weight) && <p class="note">{uncountedText(rows, weight)}</p>}
      <OwnerFacts node={findNode(root, active) ?? zoomed} />
      {(ownerKernels?.left_out ?? 0) > 0 && <p class="note">
        {format.count(ownerKernels?.left_out)} kernels with little of its time are not named here, and
        so are not in the tables.</p>}
    </>
  );
}

// Whose the work is: by layer of the model, line of the program, operation.
export function OwnersSection() {
  const { summary } = useReport();
  const lists = listsOf(summary);
  const { owners } = summary;
  if (!owners || (lists.length === 0 && !owners.note)) return null;
  return (
    <Section id="owners" title="Whose work it is"
      note={`${coverageText(owners)}${lists.length > 0 ? " Figures are of the whole run, idle time " +
        "of the steps. A click on a part enlarges it, and leaves only its kernels in roofline and " +
        "table; another click goes back." : ""}`}>
      {lists.length > 0 && <Graph lists={lists} />}
    </Section>
  );
}
