// The inputs of action.yml. All of them are checked before anything is read or written, and every error names the
// input, what it may be and what it was.

import type { ReleaseMode } from "./records.ts";
import type { Runner } from "./runner.ts";
import { validRepository } from "./workflow.ts";

export const modes = ["provision", "release", "refresh"] as const;
export type Mode = (typeof modes)[number];

/** The defaults of action.yml; an input that is given as an empty text has them, too. */
export const defaults: Readonly<Record<string, string>> = {
  mode: "provision",
  name: "remuda",
  "instance-count": "1",
  "usage-class": "spot",
  "allowed-instance-types": "*",
  "resource-class": "large",
  timeout: "10m",
  wait: "true",
  "release-mode": "drain",
};

export interface Inputs {
  mode: Mode;
  region: string;
  name: string;
  id: string; // of the request; also the label
  attempt: number; // of the run
  repository: string; // of the run, owner/name; "" where the runner does not say
  run: number; // GitHub's id; 0 with repository ""
  wait: boolean;
  count: number;
  usageClass: string[];
  allowedInstanceTypes: string[];
  resourceClass: string;
  maxRuntime: number; // seconds; 0: the controller's default
  timeout: number; // milliseconds
  releaseMode: ReleaseMode;
}

export class InputError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join("\n"));
  }
}

// Upper bounds. The installation's own limits (requests.maxCount, requests.maxRuntime) are checked by its
// controller; these are what no installation can mean. A workflow run lasts at most 35 days (docs.github.com,
// "Usage limits").
const maxCount = 10_000;
const maxRuntimeMin = 35 * 24 * 60;
const maxTimeout = 24 * 60 * 60 * 1000;
const maxPatterns = 400; // allowed instance types that EC2 takes (EC2 API, InstanceRequirementsRequest)

// The SDK takes them from the environment, and takes localhost:8000 for a scheme.
const endpoints = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"];
const isWeb = (text: string) => /^https?:\/\/[^/]/.test(text) && URL.canParse(text);

/** Reads and checks what the mode needs. Throws an InputError that lists every problem. */
export function readInputs(runner: Runner): Inputs {
  const problems: string[] = [];
  const get = (name: string) => runner.input(name) || (defaults[name] ?? "");
  const bad = (name: string, allowed: string, got: string) => {
    problems.push(`${name}: must be ${allowed}, got ${JSON.stringify(got)}`);
  };
  const matching = (name: string, form: RegExp, allowed: string, text = get(name)) => {
    if (!form.test(text)) bad(name, allowed, text);
    return text;
  };
  const whole = (name: string, least: number, most: number, text = get(name)) => {
    const n = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(n >= least && n <= most)) bad(name, `a whole number from ${least} to ${most}`, text);
    return n;
  };
  const oneOf = <T extends string>(name: string, allowed: readonly T[]): T => {
    const found = allowed.find((v) => v === get(name));
    if (found === undefined) bad(name, `one of ${allowed.join(", ")}`, get(name));
    return found ?? (allowed[0] as T);
  };

  const out: Inputs = { ...nothing, mode: oneOf("mode", modes) };
  if (out.mode === "refresh" && problems.length === 0) return out;

  out.name = matching("name", /^[A-Za-z0-9_-]{3,73}$/, "3 to 73 of A-Z, a-z, 0-9, _ and -, the name of the table");
  out.region = runner.input("aws-region") || runner.variable("AWS_REGION") || runner.variable("AWS_DEFAULT_REGION");
  matching("aws-region", /^[a-z]{2,}(-[a-z0-9]+)+$/, "a region such as eu-west-1, here or in AWS_REGION", out.region);
  for (const variable of endpoints) {
    const text = runner.variable(variable);
    if (text !== "" && !isWeb(text)) bad(variable, "a URL such as https://dynamodb.eu-west-1.amazonaws.com", text);
  }
  const suffix = runner.input("request-suffix");
  matching("request-suffix", /^[a-z0-9-]{0,40}$/, "at most 40 of a-z, 0-9 and -: labels ignore case", suffix);
  const run = matching("GITHUB_RUN_ID", /^[0-9]{1,20}$/, "the id of a workflow run", runner.variable("GITHUB_RUN_ID"));
  out.id = suffix === "" ? run : `${run}-${suffix}`;
  out.attempt = whole("GITHUB_RUN_ATTEMPT", 1, 2 ** 31 - 1, runner.variable("GITHUB_RUN_ATTEMPT") || "1");
  const repository = runner.variable("GITHUB_REPOSITORY");
  if (validRepository(repository) && Number.isSafeInteger(Number(run)) && Number(run) >= 1) {
    Object.assign(out, { repository, run: Number(run) }); // else the request names no run, and is served all the same
  }
  out.timeout = duration(get("timeout")) ?? Number.NaN;
  if (!(out.timeout >= 1000 && out.timeout <= maxTimeout))
    bad("timeout", "from 1s to 24h, such as 90s or 10m", get("timeout"));
  out.releaseMode = oneOf("release-mode", ["drain", "now"]);

  if (out.mode !== "release") {
    out.wait = oneOf("wait", ["true", "false"]) === "true";
    out.count = whole("instance-count", 1, maxCount);
    out.usageClass = list(get("usage-class"));
    const usages = out.usageClass;
    if (usages.length === 0 || usages.some((u, i) => !["spot", "on-demand"].includes(u) || usages.indexOf(u) !== i)) {
      bad("usage-class", "spot, on-demand, or both in order of preference", get("usage-class"));
    }
    out.allowedInstanceTypes = list(get("allowed-instance-types"));
    const patterns = out.allowedInstanceTypes;
    if (
      patterns.length === 0 ||
      patterns.length > maxPatterns ||
      patterns.some((p) => !/^[A-Za-z0-9*.-]{1,30}$/.test(p))
    ) {
      bad(
        "allowed-instance-types",
        `1 to ${maxPatterns} patterns such as c* or m6i.large`,
        get("allowed-instance-types"),
      );
    }
    const classForm = /^[a-z0-9][a-z0-9-]{0,31}$/; // of internal/config/validate.go
    out.resourceClass = matching("resource-class", classForm, "the name of a class, 1 to 32 of a-z, 0-9 and -");
    const minutes = get("max-runtime-min");
    out.maxRuntime = minutes === "" || minutes === "-1" ? 0 : 60 * whole("max-runtime-min", 1, maxRuntimeMin);
  }
  if (problems.length > 0) throw new InputError(problems);
  return out;
}

const nothing: Inputs = {
  mode: "refresh",
  region: "",
  name: "",
  id: "",
  attempt: 0,
  repository: "",
  run: 0,
  wait: true,
  count: 0,
  usageClass: [],
  allowedInstanceTypes: [],
  resourceClass: "",
  maxRuntime: 0,
  timeout: 0,
  releaseMode: "drain",
};

/** Takes lists as workflow files have them: c* m*, "c*,m*", [c*, m*], ['c*', 'm*'], spot/on-demand, one per line. */
export function list(text: string): string[] {
  return text.split(/[\s,/[\]"']+/).filter((s) => s !== "");
}

/** Returns milliseconds of a text such as 90s, 10m or 1h30m. A bare number could mean anything, so it is none. */
export function duration(text: string): number | undefined {
  const parts = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/.exec(text);
  if (!parts || text === "") return undefined;
  const [h, m, s] = parts.slice(1).map((n) => Number(n ?? 0)) as [number, number, number];
  return ((h * 60 + m) * 60 + s) * 1000;
}
