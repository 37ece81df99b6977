// Time, a table and a runner for tests.

import type { Client } from "../src/client.ts";
import type { Clock } from "../src/clock.ts";
import { readInputs } from "../src/inputs.ts";
import type { Item, Json, Key } from "../src/item.ts";
import { Progress } from "../src/progress.ts";
import { decodeRequest, type RunRequest, requestKey, statusKey } from "../src/records.ts";
import { type Env, Runner } from "../src/runner.ts";
import { Store } from "../src/store.ts";
import { any, type Table, TableError } from "../src/table.ts";

export const began = Date.parse("2026-01-02T03:04:05.678Z");

/** Time that passes only while something sleeps. What is due meanwhile happens in its order. */
export class FakeClock implements Clock {
  private t = 0;
  private events: { at: number; run: () => void }[] = [];

  now = () => began + this.t;
  ticks = () => this.t;

  at(ms: number, run: () => void): void {
    this.events.push({ at: ms, run });
    this.events.sort((a, b) => a.at - b.at);
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.t + ms;
    while (!signal?.aborted && (this.events[0]?.at ?? Number.POSITIVE_INFINITY) <= end) {
      const event = this.events.shift();
      this.t = Math.max(this.t, event?.at ?? 0);
      event?.run();
    }
    if (!signal?.aborted) this.t = end;
  }
}

export const unavailable = new TableError("unavailable", "connection reset");

/** One call that a table received. */
export interface Call {
  name: "get" | "put" | "notify";
  at: number;
  key: string;
  item?: Item;
  expect?: number;
}

/** The conditions of DynamoDB over a map. fault may fail a call before it has its effect, or after. */
export class MemoryTable implements Table {
  readonly items = new Map<string, Item>();
  readonly calls: Call[] = [];
  fault: (call: Call, when: "before" | "after") => void = () => {};

  constructor(private readonly clock: Clock) {}

  async get(key: Key): Promise<Item | undefined> {
    return this.called({ name: "get", at: this.clock.ticks(), key: name(key) }, () => this.live(name(key)));
  }

  async put(item: Item, expect: number): Promise<void> {
    const key = name(item);
    await this.called({ name: "put", at: this.clock.ticks(), key, item: structuredClone(item), expect }, () => {
      const current = this.live(key);
      if (expect !== any && (current?.version ?? 0) !== expect) throw new TableError("conflict", "conflict", current);
      this.items.set(key, structuredClone(item));
    });
  }

  async notify(key: Key): Promise<void> {
    await this.called({ name: "notify", at: this.clock.ticks(), key: name(key) }, () => {});
  }

  /** The controller's answer. */
  status(id: string, attributes: { [name: string]: Json }): void {
    this.set({ ...statusKey(id), version: 1, expiresAt: 0, attributes: { attempt: 1, ...attributes } });
  }

  set(item: Item): void {
    this.items.set(name(item), item);
  }

  request(id: string): RunRequest | undefined {
    const item = this.items.get(name(requestKey(id)));
    return item && decodeRequest(item);
  }

  puts(kind: string): Call[] {
    return this.calls.filter((c) => c.name === "put" && c.key.endsWith(kind));
  }

  private live(key: string): Item | undefined {
    const item = this.items.get(key);
    return item && (item.expiresAt === 0 || item.expiresAt * 1000 > this.clock.now())
      ? structuredClone(item)
      : undefined;
  }

  private called<T>(call: Call, effect: () => T): T {
    this.calls.push(call);
    this.fault(call, "before");
    const out = effect();
    this.fault(call, "after");
    return out;
  }
}

const name = (key: Key) => `${key.PK} ${key.SK}`;

/** A client with everything it needs, and what it said. */
export interface World {
  c: Client;
  clock: FakeClock;
  table: MemoryTable;
  cancel: () => void;
  log: string[];
  /** What was written to a file of the runner, such as GITHUB_OUTPUT, in which the last value of a name counts. */
  saved: (file: string) => Record<string, string>;
  text: (file: string) => string;
}

export const runEnv: Env = {
  GITHUB_RUN_ID: "4711",
  GITHUB_RUN_ATTEMPT: "1",
  GITHUB_REPOSITORY: "octo/app",
  AWS_REGION: "eu-west-1",
  GITHUB_OUTPUT: "GITHUB_OUTPUT",
  GITHUB_STATE: "GITHUB_STATE",
  GITHUB_STEP_SUMMARY: "GITHUB_STEP_SUMMARY",
  "INPUT_RESOURCE-CLASS": "large",
};

export function world(env: Env = {}): World {
  const clock = new FakeClock();
  const table = new MemoryTable(clock);
  const log: string[] = [];
  const files: Record<string, string> = {};
  const append = (file: string, text: string) => {
    files[file] = (files[file] ?? "") + text;
  };
  const runner = new Runner({ ...runEnv, ...env }, (line) => log.push(line), append);
  const inputs = readInputs(runner);
  const progress = new Progress(inputs.id, runner, clock);
  const store = new Store(
    table,
    (message) => progress.trouble(message),
    (message) => progress.warnOnce(message),
  );
  const controller = new AbortController();
  const text = (file: string) => files[file] ?? "";
  const saved = (file: string) => Object.fromEntries(text(file).split("\n").filter(Boolean).map(split));
  const c = { runner, clock, store, inputs, progress, cancelled: controller.signal };
  return { c, clock, table, cancel: () => controller.abort(), log, saved, text };
}

function split(line: string): [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
