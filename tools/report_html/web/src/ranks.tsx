import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Clock, Rank } from "./summary";
import { Plain } from "./tables";

const RANKS_AT_MOST = 64;

function lastShare(rank: Rank): number | undefined {
  return rank.collectives && rank.last_in !== undefined ? rank.last_in / rank.collectives : undefined;
}

function clockText(clock: Clock): string {
  if (clock.shift_ns === undefined) return `not aligned. ${clock.note ?? ""}`;
  const drift = clock.drift_ppm === undefined ? "" : `, drifting by ${format.plain(clock.drift_ppm)} ppm`;
  // No standard error: how far the ends of one collective lie apart.
  const apart = clock.shift_error_ns ? ` ± ${format.time(clock.shift_error_ns)}` : "";
  return `${format.signed(clock.shift_ns, format.time)}${apart}${drift}. ${clock.note ?? ""}`;
}

// Who comes last into collectives, in a merged profile; a rank chooses its process elsewhere.
export function RankTable() {
  const { summary, selection, select } = useReport();
  const ranks = summary.ranks?.ranks ?? [];
  const others = (summary.ranks?.clocks ?? []).slice(1);
  if (ranks.length === 0 && others.length === 0) return null;
  return (
    <Section id="ranks" title="Ranks" note={summary.ranks?.verdict}>
      <Plain columns={["rank", "host", "process", "collectives", "last in", "others wait for it", "waits itself"]}>
        {ranks.slice(0, RANKS_AT_MOST).map((rank) => (
          <tr class={rank.straggler ? "straggler" : ""}>
            <th scope="row">{rank.rank ?? "–"}</th>
            <td class="text">{rank.host ?? "–"}</td>
            <td><button type="button" class="link" aria-pressed={selection.pid === rank.pid}
              onClick={() => select({ kind: "pid",
                pid: selection.pid === rank.pid ? undefined : rank.pid })}>{rank.pid}</button></td>
            <td>{format.count(rank.collectives)}</td>
            <td>{format.share(lastShare(rank))}</td>
            <td>{format.time(rank.waited_for_ns)}</td>
            <td>{format.time(rank.waiting_ns)}</td>
          </tr>
        ))}
      </Plain>
      {others.map((clock) => <p class="note">Clock of {clock.host}: {clockText(clock)}</p>)}
    </Section>
  );
}
