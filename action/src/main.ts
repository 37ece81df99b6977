// The step and its post step, for which the first leaves a state.

import manifest from "../package.json" with { type: "json" };
import { type Client, Failure, readPending } from "./client.ts";
import { systemClock } from "./clock.ts";
import { DynamoTable } from "./dynamo.ts";
import { InputError, readInputs } from "./inputs.ts";
import { cancellation } from "./process.ts";
import { Progress } from "./progress.ts";
import { provision } from "./provision.ts";
import { giveBackLate, release } from "./release.ts";
import { Runner } from "./runner.ts";
import { Store } from "./store.ts";

const runner = new Runner(process.env);

async function main(cancelled: AbortSignal): Promise<void> {
  runner.info(`remuda's action ${manifest.version}`);
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

async function atEnd(): Promise<void> {
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

export const step = (cancelled: AbortSignal): Promise<void> => main(cancelled).catch(fail);

export const post = (): Promise<void> => atEnd().catch(fail);

/** What programs that run an action from its sources look for. */
export const run = (): Promise<void> => step(cancellation());
