// The result of a provision: outputs, and what the run's page shows of it.

import { asked, type Client } from "./client.ts";
import { line } from "./progress.ts";
import type { RunStatus, Seat, Spent } from "./records.ts";
import { lasted, type Waits } from "./waits.ts";

export function report(c: Client, status: RunStatus): void {
  const { runner, inputs } = c;
  const seats = status.instances;
  const warm = seats.filter((seat) => seat.warm).length;
  const seconds = c.progress.seconds;
  runner.output("instance-ids", JSON.stringify(seats.map((seat) => seat.instanceId)));
  runner.output("ready-count", String(seats.length));
  runner.output("warm-count", String(warm));
  runner.output("seconds", seconds);
  c.progress.say(`Ready  ${seats.length}/${inputs.count}  warm ${warm}  cold ${seats.length - warm}  ${seconds} s`);
  if (!["", "watched"].includes(status.watch.state)) {
    c.progress.say(`its run is not watched (${watchText(status.watch.state)}): add a release job, if it has none`);
  }
  if (status.watch.waits) c.progress.say(`no runner takes: ${status.watch.waits}`);
  runner.summary(summary(inputs.id, seats, seconds) + slowest(status.history) + stuck(status));
}

/** What the run's page says of queued jobs that no runner takes. */
const stuck = (status: RunStatus) => (status.watch.waits ? `No runner takes: ${plain(status.watch.waits)}\n\n` : "");

/** The result of a step that does not wait. */
export function reportStored(c: Client): void {
  const seconds = c.progress.seconds;
  c.runner.output("seconds", seconds);
  c.progress.say(`Stored  jobs of this label queue until their runners listen  ${seconds} s`);
}

/** Why a run is not watched; the states of store/records.go. */
function watchText(state: string): string {
  const why: Readonly<Record<string, string>> = {
    unnamed: "the request names no run",
    outside: "its repository is not within the installation's github.url",
    denied: "GitHub does not show its runs to the controller",
    off: "the installation's runs.share is 0",
  };
  return why[state] ? `${state}: ${why[state]}` : state;
}

export function summary(label: string, seats: readonly Seat[], seconds: string): string {
  const rows = seats.map((s) => [
    s.instanceId,
    s.instanceType,
    s.usageClass,
    s.warm ? "warm" : "cold",
    s.seconds.toFixed(1),
  ]);
  const text = table([
    ["instance", "type", "usage class", "start", "seconds"],
    ["---", "---", "---", "---", "---:"],
    ...rows,
  ]);
  const runners = seats.length === 1 ? "runner" : "runners";
  return `### ${seats.length} ${runners} \`${label}\` ready in ${seconds} s\n\n${text}\n\n`;
}

/** The letters of internal/timeline/slow.go. */
const phaseNames: Readonly<Record<string, string>> = {
  a: "accepted",
  x: "scrub",
  c: "claimed",
  l: "launch",
  b: "boot",
  s: "script",
  r: "registration",
  h: "hand-over",
};

/** The runner that was ready last, by phase. The history has `<ms> slow i-1 l1200 bs31000`, in milliseconds. */
function slowest(history: string): string {
  const [, instance, phases] = /^\d+ slow (\S+) (.*)$/m.exec(history) ?? [];
  const texts = Array.from((phases ?? "").matchAll(/(?<!\S)([axclbsrh]+)(\d+)(?!\S)/g), ([, letters, ms]) => {
    const names = Array.from(letters ?? "", (letter) => phaseNames[letter]);
    return `${names.join("+")} ${(Number(ms) / 1000).toFixed(1)} s`;
  });
  return instance && texts.length > 0 ? `Last ready: ${plain(instance)}, ${texts.join(", ")}\n\n` : "";
}

const shown = 5; // reasons; who waited for more of them reads the log

/** What the run's page says of a step that brings no runners. */
export function reportFailed(c: Client, waits: Waits, cause: string): void {
  const { inputs, runner, progress } = c;
  const rows = [["asked for", `${asked(inputs)}; within ${inputs.timeout / 1000} s`]];
  if (waits.status)
    rows.push(["came to", `${line(inputs.count, waits.status)}${at(", written", waits.status.changedAt)}`]);
  const last = waits.latest(shown);
  for (const wait of last) {
    rows.push([
      wait === last.at(-1) ? "waited last for" : "waited for",
      `${wait.reason}: ${wait.sentence}${lasted(wait)}${at(", since", wait.since)}`,
    ]);
  }
  const text = table([["", ""], ["---", "---"], ...rows]);
  runner.summary(`### No runners \`${inputs.id}\` after ${progress.seconds} s\n\n${plain(cause)}\n\n${text}\n\n`);
}

/** What the run's page says of a request that is over: what its machines cost, if a controller has counted that. */
export function reportReleased(c: Client, status: RunStatus): void {
  const cost = costs(status.spent);
  const text = (cost ? `Machines were ${plain(cost)}\n\n` : "") + stuck(status);
  if (text) c.runner.summary(`### Runners \`${c.inputs.id}\` given back\n\n${text}`);
}

/** In the words of `remuda status ID`, cmd/remuda/view_costs.go. */
function costs(spent: Spent): string {
  const seconds = spent.booting + spent.busy + spent.idle;
  if (seconds === 0) return "";
  const text = `busy for ${duration(spent.busy)} and booted for ${duration(spent.booting)}: `;
  const dollars = spent.bootingDollars + spent.busyDollars + spent.idleDollars;
  if (spent.unpriced > 0 && dollars === 0) return `${text}their price is not known.`;
  const unknown = spent.unpriced > 0 ? `, without ${duration(spent.unpriced)} of unknown price` : "";
  return `${text}about $${dollars.toFixed(4)} by list prices${unknown}. An estimate, of machines alone.`;
}

function duration(seconds: number): string {
  const s = Math.trunc(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.trunc(s / 60)}m${two(s % 60)}s`;
  return `${Math.trunc(s / 3600)}h${two(Math.trunc((s % 3600) / 60))}m`;
}

const at = (what: string, moment: string) => (moment === "" ? "" : `${what} ${moment}`);

const table = (rows: string[][]) => rows.map((cells) => `| ${cells.map(plain).join(" | ")} |`).join("\n");

/** Text of others, in one line: what Markdown, HTML or GitHub would read as more than that is escaped. */
const plain = (text: string) => text.replace(/[\\`*_[\]<>|~&$]/g, "\\$&").replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
