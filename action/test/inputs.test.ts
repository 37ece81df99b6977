import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { defaults, duration, InputError, type Inputs, list, readInputs } from "../src/inputs.ts";
import { type Env, Runner } from "../src/runner.ts";
import { runEnv } from "./fakes.ts";

const read = (env: Env): Inputs => readInputs(new Runner({ ...runEnv, ...env }));

function problems(env: Env): string[] {
  try {
    read(env);
  } catch (error) {
    assert.ok(error instanceof InputError);
    return error.problems;
  }
  return [];
}

test("without inputs the defaults hold, and so they do for empty ones", () => {
  const empty = Object.fromEntries(Object.keys(defaults).map((name) => [`INPUT_${name.toUpperCase()}`, ""]));
  for (const env of [{}, empty]) {
    assert.deepEqual(read(env), {
      mode: "provision",
      region: "eu-west-1",
      name: "remuda",
      id: "4711",
      attempt: 1,
      repository: "octo/app",
      run: 4711,
      wait: true,
      count: 1,
      usageClass: ["spot"],
      allowedInstanceTypes: ["*"],
      resourceClass: "large",
      maxRuntime: 0,
      timeout: 600_000,
      releaseMode: "drain",
    } satisfies Inputs);
  }
});

test("a runner that does not say which run this is: the request names none, and nothing fails", () => {
  for (const env of [
    { GITHUB_REPOSITORY: "" },
    { GITHUB_REPOSITORY: "octo" },
    { GITHUB_REPOSITORY: "octo/.." },
    { GITHUB_REPOSITORY: "octo/a b" },
    { GITHUB_RUN_ID: "90071992547409931" }, // more than a number of JavaScript holds
    { GITHUB_RUN_ID: "0" },
  ]) {
    const got = read(env);
    assert.deepEqual([got.repository, got.run], ["", 0], JSON.stringify(env));
  }
  assert.deepEqual(read({ GITHUB_REPOSITORY: "Octo_x/.github" }).repository, "Octo_x/.github");
});

test("wait is true or false", () => {
  assert.equal(read({ INPUT_WAIT: "false" }).wait, false);
  assert.equal(read({ INPUT_WAIT: "true" }).wait, true);
  for (const text of ["no", "False", "0"]) {
    assert.deepEqual(problems({ INPUT_WAIT: text }), [`wait: must be one of true, false, got "${text}"`]);
  }
  assert.deepEqual(problems({ INPUT_MODE: "release", INPUT_WAIT: "no" }), []);
});

test("the defaults are those of action.yml", () => {
  const text = readFileSync("../action.yml", "utf8").split("\noutputs:")[0] ?? "";
  const found = [...text.matchAll(/^ {2}([a-z-]+):\n(?: {4}.*\n|\n| {6}.*\n)*? {4}default: "?([^"\n]+)"?$/gm)];
  assert.deepEqual(Object.fromEntries(found.map((m) => [m[1], m[2]])), defaults);
});

test("S89: what the prototype took is taken", () => {
  const got = read({
    INPUT_MODE: "provision",
    "INPUT_INSTANCE-COUNT": "10",
    "INPUT_USAGE-CLASS": "on-demand",
    "INPUT_ALLOWED-INSTANCE-TYPES": "c* m*",
    "INPUT_RESOURCE-CLASS": "xlarge",
    "INPUT_MAX-RUNTIME-MIN": "10",
  });
  assert.equal(got.count, 10);
  assert.deepEqual(got.usageClass, ["on-demand"]);
  assert.deepEqual(got.allowedInstanceTypes, ["c*", "m*"]);
  assert.equal(got.maxRuntime, 600);
});

test("S89: what the prototype did not need is not needed", () => {
  const { "INPUT_RESOURCE-CLASS": _, ...env } = runEnv;
  const got = readInputs(new Runner({ ...env, INPUT_MODE: "provision", "INPUT_INSTANCE-COUNT": "2" }));
  assert.deepEqual([got.count, got.resourceClass, got.usageClass], [2, "large", ["spot"]]);
});

test("lists in all forms", () => {
  for (const text of ["c* m6i.large", "c*,m6i.large", "[c*, m6i.large]", "['c*', \"m6i.large\"]", "c*\nm6i.large\n"]) {
    assert.deepEqual(list(text), ["c*", "m6i.large"], text);
  }
  for (const text of ["spot/on-demand", "spot, on-demand", "[spot on-demand]"]) {
    assert.deepEqual(list(text), ["spot", "on-demand"], text);
  }
  assert.deepEqual(list("['']"), []);
});

test("durations", () => {
  for (const [text, ms] of [
    ["90s", 90_000],
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["1h0m5s", 3_605_000],
  ] as const) {
    assert.equal(duration(text), ms, text);
  }
  for (const text of ["", "10", "m", "1.5m", "-1m", "10 m", "5s1m", "1d"])
    assert.equal(duration(text), undefined, text);
});

const bad: [name: string, value: string, message: RegExp][] = [
  ["mode", "dump", /one of provision, release, refresh/],
  ["aws-region", "EU west", /a region such as eu-west-1/],
  ["name", "re", /3 to 73/],
  ["name", "re.muda", /3 to 73/],
  ["name", "x".repeat(74), /3 to 73/],
  ["instance-count", "0", /a whole number from 1 to 10000/],
  ["instance-count", "-1", /a whole number/],
  ["instance-count", "1.5", /a whole number/],
  ["instance-count", "1e3", /a whole number/],
  ["instance-count", "0x5", /a whole number/],
  ["instance-count", "five", /a whole number/],
  ["instance-count", "10001", /a whole number/],
  ["usage-class", "ondemand", /spot, on-demand, or both/],
  ["usage-class", "spot spot", /spot, on-demand, or both/],
  ["usage-class", "[]", /spot, on-demand, or both/],
  ["allowed-instance-types", "[]", /1 to 400 patterns/],
  ["allowed-instance-types", "c?.large", /1 to 400 patterns/],
  ["allowed-instance-types", "x".repeat(31), /1 to 400 patterns/],
  ["allowed-instance-types", "c* ".repeat(401), /1 to 400 patterns/],
  ["resource-class", "Large Size", /the name of a class/],
  ["resource-class", "x".repeat(33), /1 to 32 of/],
  ["max-runtime-min", "0", /a whole number from 1 to 50400/],
  ["max-runtime-min", "-2", /a whole number/],
  ["max-runtime-min", "30m", /a whole number/],
  ["timeout", "10", /from 1s to 24h/],
  ["timeout", "0", /from 1s to 24h/],
  ["timeout", "0s", /from 1s to 24h/],
  ["timeout", "-10m", /from 1s to 24h/],
  ["timeout", "1.5m", /from 1s to 24h/],
  ["timeout", "25h", /from 1s to 24h/],
  ["request-suffix", "Build", /a-z, 0-9 and -/],
  ["request-suffix", "a,b", /a-z, 0-9 and -/],
  ["request-suffix", "a\nb", /a-z, 0-9 and -/],
  ["request-suffix", "x".repeat(41), /at most 40/],
  ["release-mode", "later", /one of drain, now/],
];

for (const [name, value, message] of bad) {
  test(`S89 H34: ${name} ${JSON.stringify(value.slice(0, 20))} is refused`, () => {
    const found = problems({ [`INPUT_${name.toUpperCase()}`]: value });
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", message);
    assert.ok(
      found[0]?.startsWith(`${name}: must be`) && found[0].endsWith(`got ${JSON.stringify(value.trim())}`),
      found[0],
    );
  });
}

test("S89: every problem is named at once", () => {
  const env = Object.fromEntries(bad.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]));
  const names = problems({ ...env, INPUT_MODE: "provision", GITHUB_RUN_ID: "", GITHUB_RUN_ATTEMPT: "x" }).map(
    (p) => p.split(":")[0],
  );
  const want = [...new Set(bad.map(([name]) => name)), "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"].filter(
    (n) => n !== "mode",
  );
  assert.deepEqual(names.sort(), want.sort());
});

test("a missing region is a problem", () => {
  assert.match(problems({ AWS_REGION: "" }).join(), /aws-region: must be .*AWS_REGION, got ""/);
  assert.equal(read({ AWS_REGION: "", AWS_DEFAULT_REGION: "us-east-1" }).region, "us-east-1");
  assert.equal(read({ "INPUT_AWS-REGION": "us-gov-west-1" }).region, "us-gov-west-1");
});

test("an endpoint that is none is named, whichever it is", () => {
  for (const name of ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"]) {
    for (const text of ["localhost:8000", "nonsense", "http://", "ftp://x"]) {
      assert.deepEqual(problems({ [name]: text }), [
        `${name}: must be a URL such as https://dynamodb.eu-west-1.amazonaws.com, got "${text}"`,
      ]);
    }
    assert.deepEqual(problems({ [name]: "http://127.0.0.1:8000" }), []);
  }
});

test("a release needs neither class nor count, refresh nothing at all", () => {
  const got = read({ INPUT_MODE: "release", "INPUT_RESOURCE-CLASS": "", "INPUT_INSTANCE-COUNT": "x" });
  assert.equal(got.mode, "release");
  assert.equal(readInputs(new Runner({ INPUT_MODE: "refresh" })).mode, "refresh");
});

test("H41: the label is the run id, with the suffix of a second request", () => {
  assert.equal(read({ "INPUT_REQUEST-SUFFIX": "gpu-2", GITHUB_RUN_ATTEMPT: "3" }).id, "4711-gpu-2");
  assert.equal(read({ GITHUB_RUN_ATTEMPT: "3" }).attempt, 3);
});

test("-1 minutes, the prototype's word for no limit of its own, is the controller's default", () => {
  assert.equal(read({ "INPUT_MAX-RUNTIME-MIN": "-1" }).maxRuntime, 0);
});
