// The process of a step. Loaded before everything else: a job may be cancelled while the SDK is still being read.

/** Aborts at the first signal. Later ones are ignored: the end is under way. */
export function cancellation(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => controller.abort());
  return controller.signal;
}

/** Ends a process that is done. A search for credentials that hangs would keep it alive until the job's own end. */
export function leave(): void {
  setTimeout(() => process.exit(), 1_000).unref(); // where nothing hangs it has ended by itself
}
