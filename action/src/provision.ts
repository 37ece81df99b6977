// mode: provision. Asks for runners and waits until all of them are ready, unless nobody is to wait.

import { asked, type Client, Failure, installation, poll, savePending, settlePending } from "./client.ts";
import { Ended, Every, Limit } from "./clock.ts";
import { line } from "./progress.ts";
import { instant, type RunRequest, type RunStatus } from "./records.ts";
import { report, reportFailed, reportStored } from "./summary.ts";
import { lasted, Waits } from "./waits.ts";
import { hasRun, noRun, released } from "./workflow.ts";

const seenEvery = 5_000; // a client that is not seen for a minute counts as gone
// How much longer than the request's own timeout we wait for a controller that has taken it up: it has the last word,
// and a fail-over with the writes around it takes it some seconds.
const margin = 30_000;
const late = 5_000; // past the deadline: a controller that lives has judged by then
// A cancelled step gets SIGINT, 7.5 s later SIGTERM, 2.5 s later it is killed (actions/runner,
// ProcessInvoker.cs). What was asked for is given back before that; else the post step tries.
const giveBackLimit = 6_000;

export async function provision(c: Client): Promise<void> {
  const waits = new Waits(c.clock);
  try {
    await obtain(c, waits);
  } catch (error) {
    reportFailed(c, waits, (error as Error).message);
    throw error;
  }
}

async function obtain(c: Client, waits: Waits): Promise<void> {
  const { inputs, runner } = c;
  const want: RunRequest = {
    id: inputs.id,
    attempt: inputs.attempt,
    count: inputs.count,
    usageClass: inputs.usageClass,
    allowedInstanceTypes: inputs.allowedInstanceTypes,
    resourceClass: inputs.resourceClass,
    maxRuntime: inputs.maxRuntime,
    timeout: inputs.timeout / 1000,
    releasedAttempt: 0,
    release: "",
    createdAt: instant(c.clock.now()),
    ...noRun,
    noWait: !inputs.wait,
    version: 0,
    expiresAt: 0,
  };
  if (inputs.repository !== "") {
    Object.assign(want, { repository: inputs.repository, workflowRun: inputs.run, workflowAttempt: inputs.attempt });
  }
  c.progress.say(`asking for ${asked(inputs)}`);
  savePending(c, "now");
  const limit = Limit.after(c.clock, inputs.timeout, c.cancelled);
  const stored = await submit(c, want, limit);
  if (released(stored)) {
    settlePending(runner);
    throw new Failure(
      `request ${stored.id} attempt ${stored.attempt}: was given back already; re-run all jobs to ask again`,
    );
  }
  savePending(c, "now", stored.attempt);
  if (hasRun(want) && !hasRun(stored)) {
    c.progress.warnOnce(
      `request ${want.id} is stored without its run: the client that stored it named none, or the policy of this workflow's role lacks it; bring that up to date with deploy/iam/workflow.json`,
    );
  }
  try {
    const status = want.noWait && stored.noWait ? undefined : await ready(c, stored.attempt, limit, waits);
    if (c.cancelled.aborted) throw new Ended("cancelled", "cancelled as it was done");
    if (status) report(c, status);
    else reportStored(c);
  } catch (error) {
    if (error instanceof Refusal) {
      settlePending(runner); // the controller winds down by itself what it has refused
      throw error;
    }
    throw await giveBack(c, stored.attempt, explained(c, error, stored.attempt));
  }
  settlePending(runner);
}

/** Stores the request. What another stored is not ours to give back. */
async function submit(c: Client, want: RunRequest, limit: Limit): Promise<RunRequest> {
  try {
    return await c.store.submit(want, limit);
  } catch (error) {
    const cause = explained(c, error, want.attempt);
    if (c.store.unsure) throw await giveBack(c, c.store.unsure.attempt, cause);
    settlePending(c.runner);
    throw cause;
  }
}

/** The controller's no, or that of another step of the run. */
class Refusal extends Failure {}

function ready(c: Client, attempt: number, limit: Limit, waits: Waits): Promise<RunStatus> {
  const { id, count } = c.inputs;
  const what = `request ${id} attempt ${attempt}`;
  const start = c.clock.ticks();
  const seen = new Every(seenEvery, start);
  let taken = Number.POSITIVE_INFINITY; // when it was
  // One of this attempt that answers a request of the controller's was for what this step has taken over.
  const answers = (s: RunStatus) => s.attempt > attempt || (s.attempt === attempt && s.originalCount === 0);
  return poll(c, what, limit, answers, async (status) => {
    if (status && status.attempt > attempt) throw new Refusal(`${what}: was replaced by attempt ${status.attempt}`);
    if (status && taken > c.clock.ticks()) {
      taken = c.clock.ticks();
      limit.until = taken + c.inputs.timeout + margin;
    }
    switch (status?.phase) {
      case "Ready":
        return status;
      case "Failed":
        throw new Refusal(`${what}: ${no(status, waits)}`, "remuda: no runners");
      case "Released":
        throw new Refusal(
          `${what}: ${status.failedAt === "" ? "was released meanwhile" : no(status, waits)}`,
          "remuda: no runners",
        );
    }
    if (seen.due(c.clock.ticks())) await c.store.seen(id, attempt, limit);
    if (!status) c.progress.unanswered(start, installation(c.inputs));
    else if (c.clock.ticks() - taken > c.inputs.timeout + late) c.progress.silent(installation(c.inputs));
    const wait = waits.look(status);
    const sentence = status && wait ? `  ${wait.sentence}` : "";
    c.progress.show(line(count, status) + sentence, sentence && wait ? lasted(wait) : "");
    return undefined;
  });
}

/** The controller's no, in its own words. */
const no = (status: RunStatus, waits: Waits): string => `${status.reason}: ${status.message}${waits.behind(status)}`;

/** Says what the end of a wait was about. */
function explained(c: Client, error: unknown, attempt: number): Error {
  if (!(error instanceof Ended)) return error instanceof Error ? error : new Error(String(error));
  const { id, timeout } = c.inputs;
  const why =
    error.why === "cancelled" ? `cancelled after ${c.progress.seconds} s` : `not ready within ${timeout / 1000} s`;
  const last = c.progress.last === "" ? "" : ` (last: ${c.progress.last})`;
  return new Failure(`request ${id} attempt ${attempt}: ${why}${last}`);
}

/** Releases what was asked for and returns cause, with what became of that. */
async function giveBack(c: Client, own: number, cause: Error): Promise<Failure> {
  const { id, attempt } = c.inputs;
  const limit = Limit.after(c.clock, giveBackLimit); // not the one that has just ended
  try {
    await c.store.release(id, { attempt, own }, "now", limit);
    settlePending(c.runner);
    return new Failure(`${cause.message}; what was asked for was given back`);
  } catch (error) {
    return new Failure(`${cause.message}; giving back failed: ${(error as Error).message}`);
  }
}
