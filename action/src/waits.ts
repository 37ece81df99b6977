// What a request waits for, in the controller's words, and for how long it has done so.

import type { Clock } from "./clock.ts";
import { instant, type RunStatus } from "./records.ts";

export interface Wait {
  reason: string; // one word
  sentence: string; // for people, without a duration
  since: string; // on the clock of the one who says so; "" if nobody has
  begun: number; // ticks; NaN if that is not known
  until: number; // ticks, when it was seen last
}

/** The reason while nobody has taken the request up. */
const nobody = { reason: "no_controller", sentence: "waiting for the controller" };

/** The latest wait for each reason. */
export class Waits {
  /** What the controller has said last while the request was pending. */
  status: RunStatus | undefined;
  private readonly byReason = new Map<string, Wait>(); // the latest last

  constructor(private readonly clock: Clock) {}

  /** Takes in a status of a request that is pending, or that there is none yet. Returns what the request waits for. */
  look(status: RunStatus | undefined): Wait | undefined {
    this.status = status ?? this.status;
    if (status?.reason === "") return undefined; // an older controller
    const { reason } = status ?? nobody;
    const before = this.byReason.get(reason);
    const since = status ? status.reasonSince : (before?.since ?? instant(this.clock.now()));
    // How long it has been so is said by two instants of the controller's clock, and goes on by this client's own ticks:
    // the two clocks never meet, however far apart they are. Who comes late to a status that is not written any more counts
    // less than it was.
    const until = this.clock.ticks();
    const known = status ? Math.max(0, Date.parse(status.changedAt) - Date.parse(since)) : 0;
    const begun = before?.since === since ? Math.min(before.begun, until - known) : until - known;
    const sentence = status ? status.message || reason : nobody.sentence;
    const wait = { reason, sentence, since, begun, until };
    this.byReason.delete(reason);
    this.byReason.set(reason, wait);
    return wait;
  }

  /** The latest, and before it those that took a second or more. At most n. */
  latest(n: number): Wait[] {
    const all = [...this.byReason.values()];
    return all.filter((wait) => wait === all.at(-1) || !(wait.until - wait.begun < 1_000)).slice(-n);
  }

  /** What a request that has failed had waited for, unless the failure says so or is that nobody took it up. */
  behind({ reason, message }: RunStatus): string {
    const wait = this.latest(1)[0];
    if (!wait || wait.reason === nobody.reason || wait.reason === reason || message.includes(wait.sentence)) return "";
    return `; waited last: ${wait.sentence}${lasted(wait)}`;
  }
}

/** For how long, to the second. */
export function lasted({ begun, until }: Wait): string {
  return Number.isNaN(begun) ? "" : ` for ${Math.floor((until - begun) / 1000)} s`;
}
