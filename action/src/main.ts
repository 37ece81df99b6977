// The step and its post step, which are the same program: the first leaves a state for the second.

import { type Client, Failure, readPending } from "./client.ts";
import { systemClock } from "./clock.ts";
import { DynamoTable } from "./dynamo.ts";
import { InputError, readInputs } from "./inputs.ts";
import { Progress } from "./progress.ts";
import { provision } from "./provision.ts";
import { giveBackLate, release } from "./release.ts";
import { Runner } from "./runner.ts";
import { Store } from "./store.ts";

const runner = new Runner(process.env);

/** Aborts at the first signal. Later ones are ignored: the end is under way. */
function cancellation(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => controller.abort());
  return controller.signal;
}

async function main(cancelled: AbortSignal): Promise<void> {
  runner.saveState("post", "true");
  const inputs = readInputs(runner);
  if (inputs.mode === "refresh") {
    runner.info(
      "mode refresh has nothing to do any more: remuda's controller does this all the time. The step can go.",
    );
    return;
  }
  runner.output("label", inputs.id);
  runner.output("request-id", inputs.id);
  const progress = new Progress(inputs.id, runner, systemClock);
  const table = new DynamoTable(inputs.name, inputs.region, systemClock);
  const store = new Store(
    table,
    (message) => progress.trouble(message),
    (message) => progress.warnOnce(`${message}; the controller looks by itself after a while`),
  );
  const client: Client = { runner, clock: systemClock, store, inputs, progress, cancelled };
  try {
    await (inputs.mode === "provision" ? provision(client) : release(client));
  } finally {
    table.close();
  }
}

async function post(): Promise<void> {
  const pending = readPending(runner);
  if (!pending) return;
  const table = new DynamoTable(pending.name, pending.region, systemClock);
  try {
    await giveBackLate(pending, new Store(table), systemClock, runner);
  } finally {
    table.close();
  }
}

function fail(error: unknown): void {
  process.exitCode = 1;
  if (error instanceof InputError) for (const problem of error.problems) runner.error(problem, "remuda: input");
  else if (error instanceof Failure) runner.error(error.message, error.title);
  else runner.error((error as Error).message);
  runner.debug((error as Error).stack ?? String(error));
}

export function run(): Promise<void> {
  const cancelled = cancellation();
  return (runner.state("post") === "true" ? post() : main(cancelled)).catch(fail);
}
