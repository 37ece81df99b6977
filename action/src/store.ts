// What a client does with the records of its request: Submit and Release of store/submit.go, Seen and Status.

import { Ended, type Limit, pauses } from "./clock.ts";
import { type Item, sameItem } from "./item.ts";
import {
  clientKey,
  decodeRequest,
  decodeStatus,
  encodeClient,
  encodeRequest,
  instant,
  type ReleaseMode,
  type RunRequest,
  type RunStatus,
  requestKey,
  statusKey,
} from "./records.ts";
import { any, kindOf, type Table, TableError } from "./table.ts";
import { byController, compare, hasRun, noRun, over, ownAttempt } from "./workflow.ts";

// A sign of life is of no use after a day (store: signalLife).
const clientLife = 24 * 60 * 60;

/** The request cannot be asked for: what is stored under its id says otherwise. */
export class RequestError extends Error {}

/** A call was refused, and an earlier try of it may have had its effect. */
class Doubt extends Error {}

/** What is given back: an attempt of the run, or exactly the request's own. */
export interface Which {
  attempt: number;
  own?: number;
  /** By who asked, and does not know whether that was stored: what the controller asked for is not that. */
  asked?: boolean;
}

export class Store {
  /** What submit was writing when it ended without knowing whether it is stored. */
  unsure: RunRequest | undefined;

  constructor(
    private readonly table: Table,
    /** Is passed a call that failed and is repeated. */
    private readonly trouble: (message: string) => void = () => {},
    /** Is passed a notification that was lost, which costs latency only. */
    private readonly lostNotification: (message: string) => void = () => {},
  ) {}

  /**
   * Stores want and notifies. The same attempt with the same spec is the same request and is returned as stored;
   * with another spec, or under a later attempt, it is a RequestError. A later attempt replaces an earlier one, and a
   * client takes over what the controller asked for. The caller goes on with the attempt of what is returned.
   *
   * If the role may not write the run, what is returned, and stored, has none.
   *
   * A first attempt is written as if nothing were stored, since nothing is but for a step that asks twice; what meets
   * something is decided by reading that.
   */
  async submit(want: RunRequest, limit: Limit): Promise<RunRequest> {
    const what = `request ${want.id} attempt ${want.attempt}`;
    for (let read = want.attempt > 1; ; read = true) {
      limit.check(what);
      const have = read ? await this.request(want.id, limit) : undefined;
      if (have && compare(want, have) < 0) {
        throw new RequestError(
          `${what}: attempt ${have.workflowAttempt || have.attempt} of this run has asked already`,
        );
      }
      const out = have ? over(have, want) : want;
      if (have && !out) {
        const other = differences(have, want);
        if (other.length > 0) {
          throw new RequestError(
            `${what}: was asked for with other inputs (${other.join(", ")}); a second request of one run needs request-suffix`,
          );
        }
        await this.notify(want.id, limit);
        return have;
      }
      const version = have?.version ?? 0;
      this.unsure = { ...(out ?? want), version: version + 1 };
      try {
        const stored = await this.replace(this.unsure, version, limit);
        this.unsure = undefined;
        if (stored) return stored;
      } catch (error) {
        if (kindOf(error) !== undefined) this.unsure = undefined; // a definite no
        throw error;
      }
    }
  }

  /**
   * Gives attempt and all before it back, and notifies: an attempt of the run with all that the controller asked for in
   * it, or exactly one of the request's own. What was given back only ever grows, so a late release of an old attempt
   * cannot free a newer one; `now` hurries a drain. Undefined: there is nothing to give back.
   *
   * If what submit was writing is not there, it is stored as given back, so that its write, should it arrive late, meets
   * another version and changes nothing. What the controller asked for meanwhile serves jobs of the run: that is kept.
   */
  async release(id: string, which: Which, mode: ReleaseMode, limit: Limit): Promise<RunRequest | undefined> {
    for (;;) {
      const have = await this.request(id, limit);
      const late = this.unsure && (have?.version ?? 0) < this.unsure.version ? this.unsure : undefined;
      if (this.unsure && have && byController(have) && compare(this.unsure, have) === 0) {
        const kept = late ? await this.replace(have, have.version, limit) : have;
        if (kept) return kept;
        continue;
      }
      const base = late ?? have;
      if (!base || (which.asked && !which.own && byController(base))) return undefined;
      const attempt = which.own ? Math.min(which.own, base.attempt) : ownAttempt(base, which.attempt);
      const out: RunRequest = { ...base };
      if (base.releasedAttempt <= attempt) {
        const hurried = base.releasedAttempt === attempt && base.release === "now";
        Object.assign(out, { releasedAttempt: attempt, release: hurried ? "now" : mode, releaseReason: "" });
      }
      const same = base.releasedAttempt === out.releasedAttempt && base.release === out.release;
      if (attempt < 1 || (same && base.releaseReason === out.releaseReason)) {
        await this.notify(id, limit);
        return base;
      }
      const stored = await this.replace(out, have?.version ?? 0, limit);
      if (stored) return stored;
    }
  }

  /**
   * Writes r over version and notifies. A role of an earlier policy may not write the run: what is refused with it is
   * written at once without, also if an earlier try may have been applied: of two writes over one version only one can be.
   * Undefined: another version is stored.
   */
  private async replace(r: RunRequest, version: number, limit: Limit): Promise<RunRequest | undefined> {
    const out: RunRequest = { ...r, version: version + 1, expiresAt: 0 };
    try {
      await this.put(encodeRequest(out), version, limit);
    } catch (error) {
      if (kindOf(error) === "conflict") return undefined;
      const doubt = error instanceof Doubt;
      if ((kindOf(error) !== "refused" && !doubt) || !hasRun(r)) throw error;
      if (this.unsure) this.unsure = { ...this.unsure, ...noRun };
      try {
        return await this.replace({ ...r, ...noRun }, version, limit);
      } catch (plain) {
        throw doubt && kindOf(plain) === "refused" ? error : plain; // its no is definite, that before it was not
      }
    }
    await this.notify(r.id, limit);
    return out;
  }

  async request(id: string, limit: Limit): Promise<RunRequest | undefined> {
    const item = await this.settle(`read request ${id}`, limit, () =>
      this.table.get(requestKey(id), true, limit.signal),
    );
    return item && decode(item, decodeRequest);
  }

  /** Reads the controller's answer, once. Undefined: there is none yet. */
  async status(id: string, limit: Limit): Promise<RunStatus | undefined> {
    const item = await this.table.get(statusKey(id), false, limit.signal);
    return item && decode(item, decodeStatus);
  }

  /** Says that a client still waits for attempt. One try: the next one is due soon. */
  async seen(id: string, attempt: number, limit: Limit): Promise<void> {
    const now = limit.clock.now();
    const client = { id, attempt, seenAt: instant(now), expiresAt: Math.floor(now / 1000) + clientLife };
    await this.table.put({ ...encodeClient(client), ...clientKey(id) }, any, limit.signal);
  }

  /** Asks the controller to look at the request. Lost, it costs latency only. */
  async notify(id: string, limit: Limit): Promise<void> {
    try {
      await this.table.notify(requestKey(id), limit.signal);
    } catch (error) {
      if (!limit.signal.aborted) this.lostNotification((error as Error).message);
    }
  }

  /**
   * Repeats a write of unknown outcome identically until it succeeds or fails for good. A conflict with the very
   * item that is being written is success: an earlier try was applied and its reply lost.
   */
  private put(item: Item, expect: number, limit: Limit): Promise<void> {
    let unknown: unknown;
    return this.settle(`write ${item.PK} ${item.SK}`, limit, async () => {
      try {
        await this.table.put(item, expect, limit.signal);
      } catch (error) {
        if (error instanceof TableError && error.kind === "conflict" && error.current && sameItem(error.current, item))
          return;
        // This try had no effect, but an earlier one may have had.
        if (kindOf(error) === "refused" && unknown) throw new Doubt(`${(error as Error).message} (after: ${unknown})`);
        if (kindOf(error) === "unavailable") unknown = (error as Error).message;
        throw error;
      }
    });
  }

  private async settle<T>(what: string, limit: Limit, call: () => Promise<T>): Promise<T> {
    const pause = pauses(100, 2_000); // DynamoDB's partitions refill by the second
    let last = "";
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (kindOf(error) !== "unavailable") throw error;
        last = (error as Error).message;
        if (!limit.signal.aborted) this.trouble(last);
      }
      if (limit.left > 0) await limit.pause(pause.next().value);
      try {
        limit.check(what);
      } catch (error) {
        throw error instanceof Ended && error.why === "timeout" ? new Ended("timeout", `${what}: ${last}`) : error;
      }
    }
  }
}

/** What a request asks for, by the input that says it. */
const spec: Readonly<Record<string, (r: RunRequest) => unknown>> = {
  "instance-count": (r) => r.count,
  "usage-class": (r) => r.usageClass,
  "allowed-instance-types": (r) => r.allowedInstanceTypes,
  "resource-class": (r) => r.resourceClass,
  "max-runtime-min": (r) => r.maxRuntime,
  timeout: (r) => r.timeout,
};

/** The inputs in which two requests differ. */
function differences(a: RunRequest, b: RunRequest): string[] {
  return Object.keys(spec).filter((name) => JSON.stringify(spec[name]?.(a)) !== JSON.stringify(spec[name]?.(b)));
}

function decode<T>(item: Item, as: (item: Item) => T): T {
  try {
    return as(item);
  } catch (error) {
    throw new TableError("invalid", (error as Error).message);
  }
}
