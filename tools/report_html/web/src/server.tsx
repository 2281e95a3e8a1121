// What the server's own page said of its work.
import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Application } from "./summary";

type Rule = [field: keyof Application, label: string, text: (value?: number) => string];

const rate = (value?: number) => format.withPrefix(value, "/s");
const TOKENS_PRICED = 1e6;

const RULES: Rule[] = [
  ["requests_per_second", "requests", rate],
  ["tokens_per_second", "tokens generated", rate],
  ["prompt_tokens_per_second", "tokens of prompts", rate],
  ["joules_per_token", "energy a token", (value) => format.withPrefix(value, "J")],
  ["tokens_per_joule", "tokens a joule", format.plain],
  ["cost_per_token", "cost of a million tokens",
    (value) => format.price(value === undefined ? value : TOKENS_PRICED * value)],
  ["first_token_p99_ns", "first token, 99 % within", format.time],
  ["waiting_mean", "requests in the queue", format.plain],
  ["waiting_maximum", "in the queue at most", format.count],
  ["estimated_flops_per_second", "a GPU by its formula", format.flopRate],
];

export function Server() {
  const { summary } = useReport();
  const server = summary.application;
  if (!server) return null;
  const facts = RULES.filter(([field]) => typeof server[field] === "number");
  return (
    <Section id="server" title={`Server: ${server.engine ?? "unknown"}`}
      note={`By its own page over ${format.time(server.time_ns)}, read ` +
        `${format.counted(server.readings ?? 0, "time", "times")}.`}>
      <dl class="facts">
        {facts.map(([field, label, text]) => (
          <div><dt>{label}</dt><dd>{text(server[field] as number)}</dd></div>
        ))}
      </dl>
    </Section>
  );
}
