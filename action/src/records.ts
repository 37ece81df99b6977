// The three records of a request: store/records.go in TypeScript. Attributes that are not known here are
// ignored when read.

import type { Item, Json, Key } from "./item.ts";
import { noRun, type Run } from "./workflow.ts";

export type ReleaseMode = "drain" | "now";

export interface RunRequest extends Run {
  id: string;
  attempt: number;
  count: number;
  usageClass: string[];
  allowedInstanceTypes: string[];
  resourceClass: string;
  maxRuntime: number; // seconds; 0: the controller's default
  timeout: number; // seconds
  releasedAttempt: number;
  release: "" | ReleaseMode;
  createdAt: string;
  // What Run adds is no attribute of the item while it is unset: a role of an earlier policy may not write it.
  version: number;
  expiresAt: number;
}

export interface RunClient {
  id: string;
  attempt: number;
  seenAt: string;
  expiresAt: number;
}

export interface Seat {
  instanceId: string;
  instanceType: string;
  usageClass: string;
  warm: boolean;
  seconds: number;
}

const phases = ["Pending", "Ready", "Failed", "Released"] as const;
export type Phase = (typeof phases)[number];

const counted = ["wanted", "claimed", "created", "ready", "launching", "launched"] as const;
export type Counts = Record<(typeof counted)[number], number>;

/** Whether the controller watches the run at GitHub, and what it did there. */
export interface Watch {
  state: string; // "" while it has yet to look
  cancel: string;
  rerun: string;
  rerunAttempt: number;
  detail: string;
  waits: string; // queued jobs that no runner takes, and why
  waitsSince: string;
}

const moments = ["deadline", "pendingAt", "readyAt", "failedAt", "releasedAt", "changedAt", "reasonSince"] as const;

const spending = ["booting", "busy", "idle", "bootingDollars", "busyDollars", "idleDollars", "unpriced"] as const;

/** What machines cost: seconds, and dollars by list prices, none of which are unpriced ones. */
export type Spent = Record<(typeof spending)[number], number>;

export interface RunStatus extends Record<(typeof moments)[number], string> {
  id: string;
  attempt: number;
  phase: Phase;
  reason: string;
  message: string;
  instances: Seat[];
  counts: Counts;
  originalCount: number; // unless 0 it answers a request of the controller's
  watch: Watch;
  history: string;
  spent: Spent;
  version: number;
  expiresAt: number;
}

export const requestKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunRequest" });
export const clientKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunClient" });
export const statusKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunStatus" });

/** An instant as records hold it: RFC 3339, UTC, three decimals, which is what ECMAScript writes. */
export const instant = (ms: number): string => new Date(ms).toISOString();

export function encodeRequest({ id, version, expiresAt, ...all }: RunRequest): Item {
  const unset = (name: string, v: Json) => name in noRun && v === noRun[name as keyof Run];
  const attributes = Object.fromEntries(Object.entries(all).filter(([name, v]) => !unset(name, v)));
  return { ...requestKey(id), version, expiresAt, attributes };
}

export function encodeClient({ id, expiresAt, ...attributes }: RunClient): Item {
  return { ...clientKey(id), version: 0, expiresAt, attributes };
}

export function decodeRequest(item: Item): RunRequest {
  const a = new Attributes(item);
  const release = a.text("release");
  if (release !== "" && release !== "drain" && release !== "now") throw a.bad("release", release);
  return {
    id: a.id,
    attempt: a.number("attempt", 1),
    count: a.number("count"),
    usageClass: a.texts("usageClass"),
    allowedInstanceTypes: a.texts("allowedInstanceTypes"),
    resourceClass: a.text("resourceClass"),
    maxRuntime: a.number("maxRuntime"),
    timeout: a.number("timeout"),
    releasedAttempt: a.number("releasedAttempt"),
    release,
    createdAt: a.text("createdAt"),
    ...a.readable(noRun),
    version: item.version,
    expiresAt: item.expiresAt,
  };
}

export function decodeClient(item: Item): RunClient {
  const a = new Attributes(item);
  return { id: a.id, attempt: a.number("attempt"), seenAt: a.text("seenAt"), expiresAt: item.expiresAt };
}

export function decodeStatus(item: Item): RunStatus {
  const a = new Attributes(item);
  const phase = phases.find((p) => p === a.text("phase"));
  if (phase === undefined) throw a.bad("phase", a.text("phase"));
  const counts = a.part("counts");
  const watch = a.part("watch");
  const spent = a.part("spent");
  const each = <T extends string, V>(names: readonly T[], v: (name: T) => V) =>
    Object.fromEntries(names.map((name) => [name, v(name)])) as Record<T, V>;
  return {
    id: a.id,
    attempt: a.number("attempt"),
    phase,
    reason: a.text("reason"),
    message: a.text("message"),
    instances: a.parts("instances").map((seat) => ({
      instanceId: seat.text("instanceId"),
      instanceType: seat.text("instanceType"),
      usageClass: seat.text("usageClass"),
      warm: seat.flag("warm"),
      seconds: seat.number("seconds"),
    })),
    counts: each(counted, (name) => counts.number(name)),
    originalCount: a.number("originalCount"),
    watch: {
      state: watch.text("state"),
      cancel: watch.text("cancel"),
      rerun: watch.text("rerun"),
      rerunAttempt: watch.number("rerunAttempt"),
      detail: watch.text("detail"),
      waits: watch.text("waits"),
      waitsSince: watch.text("waitsSince"),
    },
    history: a.text("history"),
    spent: each(spending, (name) => spent.number(name)),
    ...each(moments, (name) => a.text(name)),
    version: item.version,
    expiresAt: item.expiresAt,
  };
}

/** Reads attributes by name and kind. One that is missing has its zero value, as in Go. */
class Attributes {
  constructor(
    private readonly item: Item,
    private readonly values: { [name: string]: Json } = item.attributes,
  ) {}

  get id(): string {
    if (!this.item.PK.startsWith("RUN#")) throw this.bad("PK", this.item.PK);
    return this.item.PK.slice("RUN#".length);
  }

  bad(name: string, got: Json): Error {
    return new Error(`${this.item.PK} ${this.item.SK}: ${name}: unexpected value ${JSON.stringify(got)}`);
  }

  /** What can be read of these; the rest is unset, and keeps nothing from being served. */
  readable<T extends Readonly<Record<string, Json>>>(unset: T): T {
    const read = (name: string) => (typeof this.values[name] === typeof unset[name] ? this.values[name] : unset[name]);
    return Object.fromEntries(Object.keys(unset).map((name) => [name, read(name)])) as T;
  }

  text(name: string): string {
    const v = this.values[name] ?? "";
    if (typeof v !== "string") throw this.bad(name, v);
    return v;
  }

  number(name: string, least = 0): number {
    const v = this.values[name] ?? 0;
    if (typeof v !== "number" || !(v >= least)) throw this.bad(name, v);
    return v;
  }

  flag(name: string): boolean {
    const v = this.values[name] ?? false;
    if (typeof v !== "boolean") throw this.bad(name, v);
    return v;
  }

  texts(name: string): string[] {
    return this.list(name).map((v) => {
      if (typeof v !== "string") throw this.bad(name, v);
      return v;
    });
  }

  part(name: string): Attributes {
    return this.inner(name, this.values[name] ?? {});
  }

  parts(name: string): Attributes[] {
    return this.list(name).map((v) => this.inner(name, v));
  }

  private list(name: string): Json[] {
    const v = this.values[name] ?? []; // a list that has nothing in it may be null
    if (!Array.isArray(v)) throw this.bad(name, v);
    return v;
  }

  private inner(name: string, v: Json): Attributes {
    if (v === null || typeof v !== "object" || Array.isArray(v)) throw this.bad(name, v);
    return new Attributes(this.item, v);
  }
}
