// mode: release. Gives the runners of a request back and waits until nothing is held for it any more.

import { type Client, Failure, installation, type Pending, poll, savePending, settlePending } from "./client.ts";
import { type Clock, Ended, Limit } from "./clock.ts";
import type { RunRequest, RunStatus } from "./records.ts";
import type { Runner } from "./runner.ts";
import type { Store } from "./store.ts";
import { reportReleased } from "./summary.ts";
import { kindOf } from "./table.ts";
import { ownAttempt } from "./workflow.ts";

// A release step that is cancelled before it has written what it is there for does so in the seconds it has left.
const lastWrite = 6_000;
const postLimit = 30_000; // of the post step

export async function release(c: Client): Promise<void> {
  const { inputs, runner } = c;
  savePending(c, inputs.releaseMode);
  const limit = Limit.after(c.clock, inputs.timeout, c.cancelled);
  const released = await mark(c, limit);
  settlePending(runner);
  if (!released) {
    c.progress.say(`nothing to release: ${installation(inputs)} has no such request`);
    return done(c);
  }
  const attempt = ownAttempt(released, inputs.attempt);
  let ended: RunStatus | undefined;
  try {
    ended = await over(c, limit, attempt);
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    const why =
      error.why === "cancelled"
        ? "cancelled"
        : `still held after ${inputs.timeout / 1000} s (last: ${c.progress.last})`;
    throw new Failure(`release ${inputs.id} attempt ${attempt}: ${why}; the release stays in force`);
  }
  c.progress.say(`Released  attempt ${attempt}  ${c.progress.seconds} s`);
  if (ended) reportReleased(c, ended);
  done(c);
}

/** Writes the release down. */
async function mark(c: Client, limit: Limit): Promise<RunRequest | undefined> {
  const { id, attempt, releaseMode } = c.inputs;
  try {
    return await c.store.release(id, { attempt }, releaseMode, limit);
  } catch (error) {
    if (!c.cancelled.aborted) {
      if (kindOf(error) === "refused") settlePending(c.runner); // the post step would get the same answer
      throw error;
    }
    return c.store.release(id, { attempt }, releaseMode, Limit.after(c.clock, lastWrite));
  }
}

/** Waits until nothing is held for attempt, and returns its status; none if a newer one is taken up, as happens only after that. */
async function over(c: Client, limit: Limit, attempt: number): Promise<RunStatus | undefined> {
  const { id } = c.inputs;
  const asked = c.clock.ticks();
  const answers = (status: RunStatus) => status.attempt >= attempt;
  const { status } = await poll(c, `release ${id} attempt ${attempt}`, limit, answers, (status) => {
    if (status && status.attempt > attempt) return { status: undefined };
    if (status?.phase === "Released") return { status };
    if (!status) {
      c.progress.unanswered(asked, installation(c.inputs));
      c.progress.show("waiting for the controller");
    } else {
      c.progress.show(`winding down  was ${status.phase} with ${status.instances.length} of ${status.counts.wanted}`);
    }
    return undefined;
  });
  return status;
}

function done(c: Client): void {
  c.runner.output("seconds", c.progress.seconds);
}

/** The post step: gives back what the step itself had no time for. */
export async function giveBackLate(pending: Pending, store: Store, clock: Clock, runner: Runner): Promise<void> {
  const limit = Limit.after(clock, postLimit);
  const { id, mode } = pending;
  const released = await store.release(id, pending, mode, limit);
  runner.info(released ? `${id}  given back: its step ended before it could` : `${id}  nothing to give back`);
}
