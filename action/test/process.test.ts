// The step as a process: its exit status, its signals, its post step. The fakes of AWS are on loopback.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";

import { fromWire, toWire } from "../src/item.ts";
import { decodeRequest, statusKey } from "../src/records.ts";
import { runEnv } from "./fakes.ts";
import { AWSServer } from "./server.ts";

let aws: AWSServer;
let endpoint: string;
let folder: string;
const children: ChildProcess[] = [];

before(async () => {
  aws = new AWSServer();
  endpoint = await aws.start();
});
after(() => aws.stop());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "remuda-action-"));
  aws.items.clear();
  aws.received.length = 0;
  aws.instead = () => undefined;
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const files = ["GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"];

function start(env: Record<string, string>): {
  child: ChildProcess;
  output: () => string;
  code: Promise<number | null>;
} {
  const all: Record<string, string | undefined> = {
    ...runEnv,
    PATH: process.env.PATH,
    HOME: folder,
    NODE_NO_WARNINGS: "1", // the SDK announces the end of Node.js 20, which only tests run on
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: "AKIDTEST",
    AWS_SECRET_ACCESS_KEY: "forTestsOnly",
    ...env,
  };
  for (const file of files) {
    all[file] = path.join(folder, file);
    writeFileSync(all[file], "", { flag: "a" });
  }
  const child = spawn(process.execPath, ["build/test/src/index.mjs"], {
    env: all,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  return { child, output: () => text, code: once(child, "close").then(([code]) => code) };
}

/** The environment of the post step: the last value of each name. */
function states(): Record<string, string> {
  const lines = readFileSync(path.join(folder, "GITHUB_STATE"), "utf8").split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((l) => [`STATE_${l.slice(0, l.indexOf("="))}`, l.slice(l.indexOf("=") + 1)]));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const stored = () => {
  const wire = aws.items.get("RUN#4711 TYPE#RunRequest");
  return wire && decodeRequest(fromWire(wire));
};

function answer(phase: string): void {
  const seat = { instanceId: "i-1", instanceType: "c7i.large", usageClass: "spot", warm: true, seconds: 0.2 };
  const attributes = { attempt: 1, phase, instances: [seat], counts: { wanted: 1, ready: 1 } };
  aws.items.set("RUN#4711 TYPE#RunStatus", toWire({ ...statusKey("4711"), version: 1, expiresAt: 0, attributes }));
}

test("provision, its post step, release: what is ready is released by the release alone", async () => {
  const step = start({});
  await until(() => stored() !== undefined);
  answer("Ready");
  assert.equal(await step.code, 0, step.output());
  assert.match(
    readFileSync(path.join(folder, "GITHUB_OUTPUT"), "utf8"),
    /^label=4711\nrequest-id=4711\ninstance-ids=\["i-1"\]\n/,
  );

  const post = start(states());
  assert.equal(await post.code, 0);
  assert.equal(post.output(), "");
  assert.equal(stored()?.releasedAttempt, 0);

  const release = start({ INPUT_MODE: "release" });
  await until(() => stored()?.releasedAttempt === 1);
  answer("Released");
  assert.equal(await release.code, 0, release.output());
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal}: given back, not a success, nothing left for the post step`, async () => {
    const step = start({});
    await until(() => aws.calls("dynamodb:GetItem").some((r) => r.body.Key.SK.S === "TYPE#RunStatus"));
    step.child.kill(signal);
    step.child.kill(signal); // a second one changes nothing
    assert.equal(await step.code, 1, step.output());
    assert.match(step.output(), /::error title=remuda::request 4711 attempt 1: cancelled .* was given back\n/);
    assert.deepEqual([stored()?.releasedAttempt, stored()?.release], [1, "now"]);
    assert.equal(await start(states()).code, 0);
    assert.equal(stored()?.version, 2);
  });
}

test("killed: the post step gives back", async () => {
  const step = start({});
  await until(() => stored() !== undefined);
  step.child.kill("SIGKILL");
  await step.code;
  assert.equal(stored()?.releasedAttempt, 0);
  const post = start(states());
  assert.equal(await post.code, 0, post.output());
  assert.deepEqual([stored()?.releasedAttempt, stored()?.release], [1, "now"]);
  assert.match(post.output(), /4711 {2}given back/);
});

test("bad inputs: every problem is an error of its own, and AWS is not called", async () => {
  const step = start({ "INPUT_INSTANCE-COUNT": "0", "INPUT_USAGE-CLASS": "cheap" });
  assert.equal(await step.code, 1);
  assert.equal(step.output().match(/^::error title=remuda%3A input::/gm)?.length, 2, step.output());
  assert.equal(aws.received.length, 0);
});

test("refresh: one line, success, no call", async () => {
  const step = start({ INPUT_MODE: "refresh", AWS_REGION: "" });
  assert.equal(await step.code, 0);
  assert.match(step.output(), /^mode refresh has nothing to do any more.*\n$/);
  assert.equal(aws.received.length, 0);
});

test("no credentials: said at once", async () => {
  const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_EC2_METADATA_DISABLED: "true" };
  const step = start(none);
  assert.equal(await step.code, 1);
  assert.match(
    step.output(),
    /::error title=remuda::dynamodb:GetItem on table remuda in eu-west-1: no AWS credentials/,
  );
});
