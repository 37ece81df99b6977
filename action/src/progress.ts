// What people see in the log while they wait.

import type { Clock } from "./clock.ts";
import type { RunStatus } from "./records.ts";
import type { Runner } from "./runner.ts";

const again = 10_000; // the same line once more, so that no one takes the step for dead
const hintAfter = 5_000; // a controller answers in well under a second

export class Progress {
  /** Where things stood last. */
  last = "";
  private shown = "";
  private printed = Number.NEGATIVE_INFINITY;
  private hinted = false;
  private warned = new Set<string>();
  readonly start: number;

  constructor(
    private readonly id: string,
    private readonly runner: Runner,
    private readonly clock: Clock,
  ) {
    this.start = clock.ticks();
  }

  /** Seconds since the start. */
  get seconds(): string {
    return ((this.clock.ticks() - this.start) / 1000).toFixed(1);
  }

  /** Prints where things stand when that has changed, or after a while. For how long it has been so is no change. */
  show(line: string, lasted = ""): void {
    const now = this.clock.ticks();
    this.last = line + lasted;
    if (line === this.shown && now - this.printed < again) return;
    this.shown = line;
    this.printed = now;
    this.say(`${this.last}  ${this.seconds} s`);
  }

  /** Prints a line of its own. */
  say(text: string): void {
    this.runner.info(`${this.id}  ${text}`);
  }

  trouble(message: string): void {
    this.show(`trying on: ${message}`);
  }

  /** Says something once. */
  warnOnce(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.runner.warning(message);
  }

  /** Says, once, that the controller took the request up and shows no sign of life any more. */
  silent(installation: string): void {
    this.warnOnce(
      `the deadline has passed and the controller has not said so: does \`remuda controller\` still run for ${installation}?`,
    );
  }

  /** Says, once, that no controller answers since ticks. */
  unanswered(since: number, installation: string): void {
    if (this.hinted || this.clock.ticks() - since < hintAfter) return;
    this.hinted = true;
    this.runner.warning(
      `no controller answered yet, ${hintAfter / 1000} s after the request was stored: is \`remuda controller\` running for ${installation}?`,
    );
  }
}

/** How far a request is; without a status no controller has taken it up yet. */
export function line(count: number, status: RunStatus | undefined): string {
  if (!status) return "waiting for the controller";
  const { claimed, created, launching, ready } = status.counts;
  const warm = claimed + status.instances.filter((seat) => seat.warm).length;
  const cold = created + launching + status.instances.filter((seat) => !seat.warm).length;
  return `${status.phase}  ready ${ready}/${count}  warm ${warm}  cold ${cold}`;
}
