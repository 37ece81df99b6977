import assert from "node:assert/strict";
import { test } from "node:test";

import { Failure } from "../src/client.ts";
import type { Item } from "../src/item.ts";
import { provision } from "../src/provision.ts";
import { encodeRequest, type RunRequest } from "../src/records.ts";
import { RequestError } from "../src/store.ts";
import { TableError } from "../src/table.ts";
import { noRun } from "../src/workflow.ts";
import { type Call, unavailable, type World, world } from "./fakes.ts";

const id = "4711";
const seat = (n: number, warm: boolean) => ({
  instanceId: `i-${n}`,
  instanceType: "c7i.large",
  usageClass: "spot",
  warm,
  seconds: warm ? 0.164 : 21,
});

const failed = async (w: World): Promise<Error> => {
  try {
    await provision(w.c);
  } catch (error) {
    return error as Error;
  }
  throw new Error("provision succeeded");
};

/** The answer to a request for two, warm and cold. */
function answers(w: World): void {
  w.clock.at(300, () => w.table.status(id, { phase: "Pending", counts: { wanted: 2, claimed: 1, launching: 1 } }));
  w.clock.at(9_000, () =>
    w.table.status(id, { phase: "Pending", counts: { wanted: 2, claimed: 1, created: 1, ready: 1 } }),
  );
  w.clock.at(24_000, () =>
    w.table.status(id, { phase: "Ready", counts: { wanted: 2, ready: 2 }, instances: [seat(1, true), seat(2, false)] }),
  );
}

const two = { "INPUT_INSTANCE-COUNT": "2", "INPUT_MAX-RUNTIME-MIN": "30" };

test("provision: request, outputs, summary, and nothing for the post step", async () => {
  const w = world(two);
  answers(w);
  await provision(w.c);
  const want: Partial<RunRequest> = {
    count: 2,
    maxRuntime: 1800,
    timeout: 600,
    usageClass: ["spot"],
    version: 1,
    releasedAttempt: 0,
  };
  assert.deepEqual({ ...w.table.request(id), ...want }, w.table.request(id));
  const out = w.saved("GITHUB_OUTPUT");
  assert.deepEqual(
    { ...out, seconds: "" },
    { "instance-ids": '["i-1","i-2"]', "ready-count": "2", "warm-count": "1", seconds: "" },
  );
  assert.ok(Number(out.seconds) >= 24 && Number(out.seconds) <= 26.5, out.seconds);
  const summary = w.text("GITHUB_STEP_SUMMARY");
  assert.match(summary, /^### 2 runners `4711` ready in 2\d\.\d s\n/);
  assert.ok(
    summary.includes("| i-1 | c7i.large | spot | warm | 0.2 |\n| i-2 | c7i.large | spot | cold | 21.0 |\n"),
    summary,
  );
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

test("progress: a line per change, and one every ten seconds", async () => {
  const w = world(two);
  answers(w);
  await provision(w.c);
  const lines = w.log.filter((l) => !l.startsWith("::")).map((l) => l.replace(/ {2}[\d.]+ s$/, ""));
  assert.match(
    lines.shift() ?? "",
    /^4711 {2}asking for 2 of class large \(spot; \*\) from installation remuda in eu-west-1, attempt 1$/,
  );
  assert.deepEqual(lines, [
    "4711  waiting for the controller",
    "4711  Pending  ready 0/2  warm 1  cold 1",
    "4711  Pending  ready 1/2  warm 1  cold 1",
    "4711  Pending  ready 1/2  warm 1  cold 1",
    "4711  Ready  2/2  warm 1  cold 1",
  ]);
});

test("G1: it looks every 50 ms in the first half second, every 100 ms in the first minute, then every second; seenAt is renewed every five seconds", async () => {
  const w = world(two);
  w.clock.at(300, () => w.table.status(id, { phase: "Pending", counts: { wanted: 2, launching: 2 } }));
  w.clock.at(80_000, () => w.table.status(id, { phase: "Ready", instances: [seat(1, false), seat(2, false)] }));
  await provision(w.c);
  const looks = w.table.calls.filter((c) => c.name === "get" && c.key.endsWith("RunStatus")).map((c) => c.at);
  for (const [n, at] of looks.slice(1).entries()) {
    const last = looks[n] ?? 0;
    const want = last < 500 ? 50 : last < 60_000 ? 100 : 1_000;
    assert.ok(at - last >= want * 0.8 && at - last <= want * 1.2, `a pause of ${at - last} ms after ${last}`);
  }
  assert.ok((looks.at(-1) ?? 0) >= 80_000);
  const seen = w.table.puts("RunClient");
  assert.ok(seen.length >= 15);
  for (const [n, call] of seen.entries()) {
    assert.ok(call.at >= n * 5_000 && call.at <= n * 5_000 + 1_200, String(call.at));
    assert.deepEqual(Object.keys(call.item?.attributes ?? {}), ["attempt", "seenAt"]);
    assert.equal(call.item?.expiresAt, Math.floor(Date.parse(String(call.item?.attributes.seenAt)) / 1000) + 86_400);
  }
});

test("it notifies again until the status shows its attempt, and no longer", async () => {
  const w = world();
  w.table.status(id, { attempt: 0, phase: "Released" });
  w.clock.at(10_000, () => w.table.status(id, { phase: "Pending" }));
  w.clock.at(30_000, () => w.table.status(id, { phase: "Ready", instances: [seat(1, true)] }));
  await provision(w.c);
  const notified = w.table.calls.filter((c) => c.name === "notify").map((c) => c.at);
  assert.ok(notified.length >= 3 && notified.every((at) => at <= 11_000), notified.join());
});

test("a lost notification is a warning, once", async () => {
  const w = world();
  w.table.fault = (c) => {
    if (c.name === "notify") throw new TableError("refused", "sqs:SendMessage on queue remuda-events: access denied");
  };
  w.clock.at(10_000, () => w.table.status(id, { phase: "Ready", instances: [seat(1, true)] }));
  await provision(w.c);
  assert.equal(w.log.filter((l) => l.includes("sqs:SendMessage")).length, 1);
});

test("no controller: said after five seconds, failed and given back at the timeout", async () => {
  const w = world({ INPUT_TIMEOUT: "60s" });
  let hint = 0;
  w.clock.at(
    6_000,
    () => (hint = w.log.filter((l) => l.startsWith("::warning") && l.includes("no controller answered yet")).length),
  );
  const error = await failed(w);
  assert.equal(hint, 1);
  assert.match(
    error.message,
    /not ready within 60 s \(last: waiting for the controller\); what was asked for was given back/,
  );
  assert.equal(w.clock.ticks(), 60_000);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
  assert.equal(w.table.request(id)?.release, "now");
  assert.equal(w.log.filter((l) => l.includes("no controller answered yet")).length, 1);
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

test("a controller that has taken it up has the last word", async () => {
  const w = world({ INPUT_TIMEOUT: "60s" });
  w.clock.at(50_000, () => w.table.status(id, { phase: "Pending" }));
  w.clock.at(111_000, () =>
    w.table.status(id, { phase: "Failed", reason: "timeout", message: "0 of 1 ready after 1m0s" }),
  );
  assert.match((await failed(w)).message, /^request 4711 attempt 1: timeout: 0 of 1 ready after 1m0s$/);
});

test("a controller that took it up and died: said after the deadline, given back", async () => {
  const w = world({ INPUT_TIMEOUT: "60s" });
  w.clock.at(1_000, () => w.table.status(id, { phase: "Pending", counts: { wanted: 1, launching: 1 } }));
  const error = await failed(w);
  assert.match(
    error.message,
    /not ready within 60 s \(last: Pending {2}ready 0\/1 .*what was asked for was given back/,
  );
  const said = w.log.filter((l) => l.includes("controller` still run for installation remuda in eu-west-1?"));
  assert.equal(said.length, 1, w.log.join("\n"));
  assert.ok(w.log.indexOf(said[0] ?? "") > w.log.findLastIndex((l) => / {2}60\.\d s$/.test(l)), w.log.join("\n"));
});

test("S80: a failed request shows reason and message, and is left to the controller", async () => {
  for (const phase of ["Failed", "Released"]) {
    const w = world();
    w.clock.at(400, () =>
      w.table.status(id, {
        phase,
        reason: "invalid",
        message: 'resourceClass: unknown class "large"',
        failedAt: "2026-01-02T03:04:06.000Z",
      }),
    );
    const error = await failed(w);
    assert.equal(error.message, 'request 4711 attempt 1: invalid: resourceClass: unknown class "large"');
    assert.equal((error as Failure).title, "remuda: no runners");
    assert.equal(w.table.request(id)?.releasedAttempt, 0);
    assert.equal(w.saved("GITHUB_STATE").pending, "");
  }
});

test("released or replaced meanwhile: failed, and nothing of the other's is touched", async () => {
  for (const [status, message] of [
    [{ phase: "Released" }, /was released meanwhile/],
    [{ phase: "Pending", attempt: 2 }, /was replaced by attempt 2/],
  ] as const) {
    const w = world();
    w.clock.at(400, () => w.table.status(id, status));
    assert.match((await failed(w)).message, message);
    assert.equal(w.table.request(id)?.releasedAttempt, 0);
  }
});

test("a cancelled step gives back what it asked for, at once", async () => {
  const w = world();
  w.clock.at(300, () => w.table.status(id, { phase: "Pending" }));
  w.clock.at(3_000, w.cancel);
  const error = await failed(w);
  assert.ok(error instanceof Failure);
  assert.match(
    error.message,
    /cancelled after 3.0 s \(last: Pending {2}ready 0\/1 {2}warm 0 {2}cold 0\); what was asked for was given back/,
  );
  assert.equal(w.clock.ticks(), 3_000);
  assert.deepEqual([w.table.request(id)?.releasedAttempt, w.table.request(id)?.release], [1, "now"]);
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

test("cancelled in the moment it becomes ready: given back, since the job will not tell anyone", async () => {
  const w = world();
  w.table.status(id, { phase: "Ready", instances: [seat(1, true)] });
  w.table.fault = (c) => {
    if (c.key.endsWith("RunStatus")) w.cancel();
  };
  assert.match((await failed(w)).message, /cancelled .* was given back/);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
  assert.equal(w.text("GITHUB_OUTPUT"), "");
});

test("cancelled while AWS does not answer: the post step has what it needs", async () => {
  const w = world();
  w.clock.at(3_000, () => {
    w.cancel();
    w.table.fault = () => {
      throw unavailable;
    };
  });
  assert.match((await failed(w)).message, /giving back failed: .*connection reset/);
  assert.ok(w.clock.ticks() <= 3_000 + 7_500);
  assert.deepEqual(JSON.parse(w.saved("GITHUB_STATE").pending ?? ""), {
    name: "remuda",
    region: "eu-west-1",
    id,
    attempt: 1,
    asked: true,
    mode: "now",
    own: 1,
  });
});

const isRequest = (c: Call) => c.name === "put" && c.key.endsWith("RunRequest");

test("H13: a write of unknown outcome is repeated identically, and meeting itself is success", async () => {
  const w = world();
  let left = 3;
  w.table.fault = (c, when) => {
    if (isRequest(c) && left > 0 && when === (left === 1 ? "after" : "before")) {
      left--;
      throw unavailable;
    }
  };
  w.clock.at(5_000, () => w.table.status(id, { phase: "Ready", instances: [seat(1, true)] }));
  await provision(w.c);
  const puts = w.table.puts("RunRequest");
  assert.equal(puts.length, 4); // the fourth finds what the third wrote, and needs no read to see it
  assert.equal(w.table.calls.filter((c) => c.name === "get" && c.key.endsWith("RunRequest")).length, 0);
  for (const put of puts) assert.deepEqual({ ...put, at: 0 }, { ...puts[0], at: 0 });
  assert.equal(w.table.request(id)?.version, 1);
});

test("cancelled during a write of unknown outcome that is applied late: it meets a request that was given back", async () => {
  const w = world();
  let late: Item | undefined;
  w.table.fault = (c, when) => {
    if (isRequest(c) && when === "before" && !late) {
      late = c.item as Item;
      w.cancel();
      throw unavailable;
    }
  };
  assert.match((await failed(w)).message, /cancelled .* was given back/);
  const stored = w.table.request(id);
  assert.deepEqual([stored?.version, stored?.releasedAttempt, stored?.release], [1, 1, "now"]);
  await assert.rejects(w.table.put(late as Item, 0), /conflict/);
});

test("cancelled before anything was written: nothing is", async () => {
  const w = world();
  w.cancel();
  w.table.fault = () => {
    throw unavailable;
  };
  assert.match((await failed(w)).message, /cancelled after 0.0 s$/);
  assert.equal(w.table.puts("").length, 0);
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

function stored(changes: Partial<RunRequest>): Item {
  const base: RunRequest = {
    ...{
      id,
      attempt: 1,
      count: 1,
      usageClass: ["spot"],
      allowedInstanceTypes: ["*"],
      resourceClass: "large",
    },
    ...{
      maxRuntime: 0,
      timeout: 600,
      releasedAttempt: 0,
      release: "",
      createdAt: "",
      ...noRun,
      version: 5,
      expiresAt: 0,
    },
  };
  return encodeRequest({ ...base, ...changes });
}

test("the same attempt and spec is the same request, with another spec it is refused and left alone", async () => {
  const again = world();
  again.table.set(stored({}));
  again.table.status(id, { phase: "Ready", instances: [seat(1, true)] });
  await provision(again.c);
  assert.equal(again.table.request(id)?.version, 5);
  assert.equal(again.saved("GITHUB_OUTPUT")["warm-count"], "1");

  const other = world();
  other.table.set(stored({ count: 2 }));
  const error = await failed(other);
  assert.ok(error instanceof RequestError);
  assert.match(error.message, /was asked for with other inputs \(instance-count\); .*request-suffix/);
  assert.equal(other.table.request(id)?.version, 5);
  assert.equal(other.saved("GITHUB_STATE").pending, "");
});

test("H41: a higher attempt replaces a lower one and keeps what was given back; a lower one is refused", async () => {
  const higher = world({ GITHUB_RUN_ATTEMPT: "2" });
  higher.table.set(stored({ releasedAttempt: 1, release: "drain", count: 7 }));
  higher.table.status(id, { phase: "Ready", instances: [seat(9, true)] }); // of attempt 1: not trusted
  higher.clock.at(2_000, () => higher.table.status(id, { attempt: 2, phase: "Ready", instances: [seat(1, true)] }));
  await provision(higher.c);
  const now = higher.table.request(id);
  assert.deepEqual([now?.attempt, now?.count, now?.releasedAttempt, now?.release, now?.version], [2, 1, 1, "drain", 6]);
  assert.equal(higher.saved("GITHUB_OUTPUT")["instance-ids"], '["i-1"]');

  const lower = world();
  lower.table.set(stored({ attempt: 3 }));
  assert.match((await failed(lower)).message, /attempt 3 of this run has asked already/);

  const over = world();
  over.table.set(stored({ releasedAttempt: 1, release: "now" }));
  assert.match((await failed(over)).message, /was given back already; re-run all jobs/);
});

test("an expired record is no record", async () => {
  const w = world();
  w.table.set(stored({ attempt: 9, expiresAt: 1 }));
  w.clock.at(1_000, () => w.table.status(id, { phase: "Ready", instances: [seat(1, true)] }));
  await provision(w.c);
  assert.equal(w.table.request(id)?.version, 1);
});

test("a refusal ends the wait at once, whatever was asked for is given back if it may be", async () => {
  const refused = new TableError("refused", "dynamodb:GetItem on table remuda: access denied");
  const early = world();
  early.table.fault = () => {
    throw refused;
  };
  assert.match((await failed(early)).message, /access denied$/);
  assert.equal(early.clock.ticks(), 0);

  const later = world();
  later.table.fault = (c) => {
    if (c.key.endsWith("RunStatus")) throw refused;
  };
  assert.match((await failed(later)).message, /access denied; what was asked for was given back/);
  assert.equal(later.table.request(id)?.releasedAttempt, 1);
});

test("an outage in the middle is waited out, and said", async () => {
  const w = world();
  w.clock.at(2_000, () => {
    w.table.fault = () => {
      throw unavailable;
    };
  });
  w.clock.at(90_000, () => {
    w.table.fault = () => {};
    w.table.status(id, { phase: "Ready", instances: [seat(1, true)] });
  });
  await provision(w.c);
  assert.ok(w.log.some((l) => l.includes("trying on: connection reset")));
});
