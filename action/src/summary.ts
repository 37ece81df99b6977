// The result of a provision: outputs and the table on the run's page.

import type { Client } from "./client.ts";
import type { RunStatus, Seat } from "./records.ts";

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
  runner.summary(summary(inputs.id, seats, seconds));
}

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
  const table = [
    ["instance", "type", "usage class", "start", "seconds"],
    ["---", "---", "---", "---", "---:"],
    ...rows,
  ];
  const text = table.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
  const runners = seats.length === 1 ? "runner" : "runners";
  return `### ${seats.length} ${runners} \`${label}\` ready in ${seconds} s\n\n${text}\n\n`;
}

const cell = (text: string) => text.replace(/[|\\<>`]/g, "\\$&").replace(/[\r\n]+/g, " ");
