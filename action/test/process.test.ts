// The step as a process: its exit status, its signals, its post step. The fakes of AWS are on loopback.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

function start(
  env: Record<string, string>,
  entry = "index",
): {
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
  const child = spawn(process.execPath, [`build/test/src/${entry}.mjs`], {
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
  const file = path.join(folder, "GITHUB_STATE");
  const lines = (existsSync(file) ? readFileSync(file, "utf8") : "").split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((l) => [`STATE_${l.slice(0, l.indexOf("="))}`, l.slice(l.indexOf("=") + 1)]));
}

/** Runs the post step of the steps before. */
const atEnd = () => start(states(), "post");

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

  const post = atEnd();
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
    assert.equal(await atEnd().code, 0);
    assert.equal(stored()?.version, 2);
  });
}

test("H30: cancelled before it has begun: its post step, which the runner has registered already, asks for nothing", async () => {
  const post = atEnd();
  assert.equal(await post.code, 0);
  assert.equal(post.output(), "");
  assert.equal(aws.received.length, 0);
});

for (const [when, call, how, version] of [
  ["while its request is written", "dynamodb:PutItem", "hang", 1],
  ["after its request was written, before the answer", "dynamodb:PutItem", "mute", 2],
  ["while it notifies", "sqs:SendMessage", "hang", 2],
  ["while it reads the status", "dynamodb:GetItem", "hang", 2],
] as const) {
  test(`H30: SIGINT ${when}: nothing is left asked for`, async () => {
    aws.instead = (name) => (name === call ? how : undefined);
    const step = start({});
    await until(() => aws.calls(call).length > 0);
    aws.instead = () => undefined;
    step.child.kill("SIGINT");
    assert.equal(await step.code, 1, step.output());
    assert.match(step.output(), /::error title=remuda::request 4711 attempt 1: cancelled after/);
    assert.deepEqual([stored()?.version, stored()?.releasedAttempt], [version, version && 1], step.output());
    const post = atEnd();
    assert.equal(await post.code, 0);
    assert.equal(post.output(), "");
    assert.equal(stored()?.version, version);
  });
}

/** A request that is ready, and a release step that waits for its end. */
async function releasing(): Promise<ReturnType<typeof start>> {
  const step = start({});
  await until(() => stored() !== undefined);
  answer("Ready");
  assert.equal(await step.code, 0, step.output());
  aws.received.length = 0;
  return start({ INPUT_MODE: "release" });
}

test("SIGINT while a release waits: it stays in force, nothing is left for the post step", async () => {
  const release = await releasing();
  await until(() => aws.calls("dynamodb:GetItem").some((r) => r.body.Key.SK.S === "TYPE#RunStatus"));
  release.child.kill("SIGINT");
  assert.equal(await release.code, 1, release.output());
  assert.match(release.output(), /release 4711 attempt 1: cancelled; the release stays in force/);
  assert.deepEqual([stored()?.releasedAttempt, stored()?.release, stored()?.version], [1, "drain", 2]);
  const post = atEnd();
  assert.equal(await post.code, 0);
  assert.equal(post.output(), "");
});

test("SIGINT while a release is written: it is written all the same", async () => {
  aws.instead = (name) => (name === "dynamodb:PutItem" && stored()?.version === 1 ? "hang" : undefined);
  const release = await releasing();
  await until(() => aws.calls("dynamodb:PutItem").length > 0);
  aws.instead = () => undefined;
  release.child.kill("SIGINT");
  assert.equal(await release.code, 1, release.output());
  assert.deepEqual([stored()?.releasedAttempt, stored()?.release], [1, "drain"]);
});

test("killed: the post step gives back", async () => {
  const step = start({});
  await until(() => stored() !== undefined);
  step.child.kill("SIGKILL");
  await step.code;
  assert.equal(stored()?.releasedAttempt, 0);
  const post = atEnd();
  assert.equal(await post.code, 0, post.output());
  assert.deepEqual([stored()?.releasedAttempt, stored()?.release], [1, "now"]);
  assert.match(post.output(), /4711 {2}given back/);
  assert.equal(await atEnd().code, 0); // again: nothing changes
  assert.equal(stored()?.version, 2);
});

test("bad inputs: every problem is an error of its own, and AWS is not called", async () => {
  const step = start({ "INPUT_INSTANCE-COUNT": "0", "INPUT_USAGE-CLASS": "cheap" });
  assert.equal(await step.code, 1);
  assert.equal(step.output().match(/^::error title=remuda%3A input::/gm)?.length, 2, step.output());
  assert.equal(aws.received.length, 0);
});

test("refresh: one line after that of its version, success, no call", async () => {
  const step = start({ INPUT_MODE: "refresh", AWS_REGION: "" });
  assert.equal(await step.code, 0);
  assert.match(step.output(), /^remuda's action \d+\.\d+\.\d+\nmode refresh has nothing to do any more.*\n$/);
  assert.equal(aws.received.length, 0);
});

test("no credentials: said at once", async () => {
  const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_EC2_METADATA_DISABLED: "true" };
  const step = start(none);
  assert.equal(await step.code, 1);
  assert.match(
    step.output(),
    /::error title=remuda::dynamodb:PutItem on table remuda in eu-west-1: no AWS credentials/,
  );
});

test("a role that STS refuses: said so, not taken for a missing permission", async () => {
  const xml =
    "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>";
  aws.instead = (call) => (call.startsWith("sts:") ? { status: 403, body: xml } : undefined);
  const token = path.join(folder, "token");
  writeFileSync(token, "x.y.z");
  const role = { AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: "arn:aws:iam::111122223333:role/remuda-workflow" };
  const step = start({ AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", ...role });
  assert.equal(await step.code, 1, step.output());
  assert.match(
    step.output(),
    /on table remuda in eu-west-1: no AWS credentials: STS refuses the role; check its trust policy \(deploy\/iam\/workflow-trust\.json\): AccessDenied: Not authorized/,
  );
});

test("a search for credentials that hangs keeps no cancelled step alive", { timeout: 120_000 }, async () => {
  const pipe = path.join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  writeFileSync(
    path.join(folder, "config"),
    `[default]\ncredential_process = sh -c "echo > ${folder}/asked; cat ${pipe}"\n`,
  );
  const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_CONFIG_FILE: path.join(folder, "config") };
  const step = start({ ...none, AWS_PROFILE: "default", AWS_EC2_METADATA_DISABLED: "true" });
  try {
    await until(() => existsSync(path.join(folder, "asked")));
    step.child.kill("SIGINT");
    assert.equal(await step.code, 1, step.output());
    assert.match(step.output(), /request 4711 attempt 1: cancelled after/);
    assert.equal(aws.received.length, 0);
  } finally {
    closeSync(openSync(pipe, constants.O_RDWR)); // who reads it meets its end
  }
});
