// The run at GitHub that a request names: store/workflow.go and the rules of store/submit.go in TypeScript, as far as a
// client needs them.

import type { RunRequest } from "./records.ts";

/** A request's fields that a role of an earlier policy may not write, as they are when they are unset. */
export const noRun = {
  repository: "",
  workflowRun: 0,
  workflowAttempt: 0,
  noWait: false,
  originalCount: 0,
  releaseReason: "",
};

export type Run = typeof noRun;

export const hasRun = (r: Run): boolean =>
  (Object.keys(noRun) as (keyof Run)[]).some((name) => r[name] !== noRun[name]);

/** What GitHub takes as owner and name; see ValidRepository. */
export function validRepository(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\/[A-Za-z0-9._-]{1,100}$/.test(text) && !/\/\.\.?$/.test(text);
}

/** Whether the request names a run: its id is the run's, or begins with it and a dash. */
function named(r: RunRequest): boolean {
  const { repository, workflowRun, workflowAttempt } = r;
  return (
    Number.isSafeInteger(workflowRun) &&
    workflowRun >= 1 &&
    Number.isSafeInteger(workflowAttempt) &&
    workflowAttempt >= 1 &&
    validRepository(repository) &&
    r.id.split("-", 1)[0] === String(workflowRun)
  );
}

function sameRun(a: RunRequest, b: RunRequest): boolean {
  return (
    named(a) && named(b) && a.repository.toLowerCase() === b.repository.toLowerCase() && a.workflowRun === b.workflowRun
  );
}

/** Orders two requests of one id: by the attempt of the run if both name the same one, else by their own. */
export function compare(a: RunRequest, b: RunRequest): number {
  return sameRun(a, b) ? a.workflowAttempt - b.workflowAttempt : a.attempt - b.attempt;
}

export const byController = (r: RunRequest): boolean => r.originalCount > 0;

/** Whether the request's current attempt was given back. */
export const released = (r: RunRequest): boolean => r.releasedAttempt >= r.attempt;

/**
 * The request's own attempt that a client means by an attempt of the run: the last one that ends with it. "Re-run failed
 * jobs" asks under a lower attempt than it releases.
 */
export function ownAttempt(r: RunRequest, attempt: number): number {
  if (!named(r)) return Math.min(attempt, r.attempt);
  return r.workflowAttempt <= attempt ? r.attempt : r.attempt - 1;
}

/** Whether what was given for have may serve want: machines of the same class and types, sold as want allows. */
const serves = (have: RunRequest, want: RunRequest): boolean =>
  have.resourceClass === want.resourceClass &&
  have.allowedInstanceTypes.join(" ") === want.allowedInstanceTypes.join(" ") &&
  have.usageClass.every((usage) => want.usageClass.includes(usage));

/**
 * What is stored once want was asked for over have; undefined: have is the same request. Only of an attempt that the
 * controller asked for, or gave back, is a client's the next.
 */
export function over(have: RunRequest, want: RunRequest): RunRequest | undefined {
  const later = compare(want, have) > 0;
  const again = released(have) && have.releaseReason !== "";
  if (!later && !byController(have) && !again) return undefined;
  return {
    ...want,
    attempt: Math.max(want.attempt, later || released(have) || !serves(have, want) ? have.attempt + 1 : have.attempt),
    releasedAttempt: have.releasedAttempt,
    release: have.release,
    releaseReason: have.releaseReason,
  };
}
