// The three records of a request: store/records.go in TypeScript. Attributes that are not known here are
// ignored when read.

import type { Item, Json, Key } from "./item.ts";

export type ReleaseMode = "drain" | "now";

export interface RunRequest {
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

const moments = ["deadline", "pendingAt", "readyAt", "failedAt", "releasedAt", "changedAt"] as const;

export interface RunStatus extends Record<(typeof moments)[number], string> {
  id: string;
  attempt: number;
  phase: Phase;
  reason: string;
  message: string;
  instances: Seat[];
  counts: Counts;
  version: number;
  expiresAt: number;
}

export const requestKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunRequest" });
export const clientKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunClient" });
export const statusKey = (id: string): Key => ({ PK: `RUN#${id}`, SK: "TYPE#RunStatus" });

/** An instant as records hold it: RFC 3339, UTC, three decimals, which is what ECMAScript writes. */
export const instant = (ms: number): string => new Date(ms).toISOString();

export function encodeRequest({ id, version, expiresAt, ...attributes }: RunRequest): Item {
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
