// What both modes have in common.

import { type Clock, Every, jitter, type Limit } from "./clock.ts";
import type { Inputs } from "./inputs.ts";
import type { Progress } from "./progress.ts";
import type { ReleaseMode, RunStatus } from "./records.ts";
import type { Runner } from "./runner.ts";
import type { Store } from "./store.ts";
import { kindOf } from "./table.ts";

export interface Client {
  runner: Runner;
  clock: Clock;
  store: Store;
  inputs: Inputs;
  progress: Progress;
  /** Aborts when the step is cancelled. */
  cancelled: AbortSignal;
}

/** The step has failed, for a reason that is for people. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly title = "remuda",
  ) {
    super(message);
  }
}

export const installation = ({ name, region }: Inputs): string => `installation ${name} in ${region}`;

/** What a step asks for. */
export function asked(inputs: Inputs): string {
  const { count, resourceClass, usageClass, allowedInstanceTypes, attempt } = inputs;
  return `${count} of class ${resourceClass} (${usageClass.join(", ")}; ${allowedInstanceTypes.join(" ")}) from ${installation(inputs)}, attempt ${attempt}`;
}

// Pauses between looks: 50 ms in the first half second of waiting, 100 ms in the first minute, then a second.
const lookAtOnce = 50; // a machine that listens ahead is ready within some 250 ms (docs/benchmarks.md)
const atOnceFor = 500;
const lookSoon = 100; // a warm start takes a fraction of a second
const lookLater = 1_000; // for a cold one, that much more is little
const soonFor = 60_000;
const notifyEvery = 3_000; // a lost notification costs no more than this

const pause = (waited: number): number => (waited < atOnceFor ? lookAtOnce : waited < soonFor ? lookSoon : lookLater);

/**
 * Reads the status again and again, until look returns a result. While there is none that answers, the controller is
 * notified again. A failed read is repeated: only the time limit ends the wait, or a refusal, which only an
 * operator can lift.
 */
export async function poll<T>(
  c: Client,
  what: string,
  limit: Limit,
  answers: (status: RunStatus) => boolean,
  look: (status: RunStatus | undefined) => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const start = c.clock.ticks();
  const notify = new Every(notifyEvery, start + notifyEvery);
  for (;;) {
    let answered = false;
    try {
      const status = await c.store.status(c.inputs.id, limit);
      answered = status !== undefined && answers(status);
      const result = await look(answered ? status : undefined);
      if (result !== undefined) return result;
    } catch (error) {
      if (kindOf(error) !== "unavailable") throw error;
      if (!limit.signal.aborted) c.progress.trouble((error as Error).message);
    }
    if (!answered && !limit.signal.aborted && notify.due(c.clock.ticks())) await c.store.notify(c.inputs.id, limit);
    await limit.pause(jitter(pause(c.clock.ticks() - start)));
    limit.check(what);
  }
}

/** What the post step gives back if this process ends before it could. */
export interface Pending {
  name: string;
  region: string;
  id: string;
  attempt: number; // of the run
  own?: number; // of the request, once that is known
  asked: boolean; // by a step that provisions; else by one that releases
  mode: ReleaseMode;
}

const pendingState = "pending";

export function savePending(c: Client, mode: ReleaseMode, own?: number): void {
  const { name, region, id, attempt } = c.inputs;
  const pending: Pending = { name, region, id, attempt, asked: c.inputs.mode === "provision", mode };
  c.runner.saveState(pendingState, JSON.stringify(own ? { ...pending, own } : pending));
}

/** Nothing is left for the post step. */
export function settlePending(runner: Runner): void {
  runner.saveState(pendingState, "");
}

export function readPending(runner: Runner): Pending | undefined {
  const text = runner.state(pendingState);
  return text === "" ? undefined : (JSON.parse(text) as Pending);
}
