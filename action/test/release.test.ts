import assert from "node:assert/strict";
import { test } from "node:test";

import { readPending } from "../src/client.ts";
import { encodeRequest, type RunRequest } from "../src/records.ts";
import { giveBackLate, release } from "../src/release.ts";
import { Runner } from "../src/runner.ts";
import { TableError } from "../src/table.ts";
import { noRun } from "../src/workflow.ts";
import { unavailable, type World, world } from "./fakes.ts";

const id = "4711";
const mode = { INPUT_MODE: "release" };

function having(w: World, changes: Partial<RunRequest> = {}): World {
  const base: RunRequest = {
    ...{ id, attempt: 1, count: 1, usageClass: ["spot"], allowedInstanceTypes: ["*"], resourceClass: "large" },
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
  w.table.set(encodeRequest({ ...base, ...changes }));
  w.table.status(id, { attempt: changes.attempt ?? 1, phase: "Ready", counts: { wanted: 1 } });
  return w;
}

test("release marks the attempt, keeps the rest and waits until nothing is held", async () => {
  const w = having(world(mode));
  w.clock.at(40_000, () => w.table.status(id, { phase: "Released" }));
  await release(w.c);
  const { releasedAttempt, release: how, version, count } = w.table.request(id) as RunRequest;
  assert.deepEqual([releasedAttempt, how, version, count], [1, "drain", 6, 1]);
  assert.ok(w.clock.ticks() >= 40_000 && w.clock.ticks() < 43_000);
  assert.equal(w.table.calls.filter((c) => c.name === "notify").length, 1);
  assert.ok(w.log.some((l) => l.startsWith("4711  winding down  was Ready with 0 of 1")));
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

test("what its machines cost is on the run's page once it is over, and nothing where nobody has counted it", async () => {
  const spent = { booting: 72.5, busy: 7_260, bootingDollars: 0.002, busyDollars: 0.17144 };
  for (const [of, want] of [
    [
      spent,
      "Machines were busy for 2h01m and booted for 1m12s: about \\$0.1734 by list prices. An estimate, of machines alone.",
    ],
    [{ ...spent, unpriced: 59.9 }, "about \\$0.1734 by list prices, without 59s of unknown price."],
    [
      { busy: 30, booting: 0.1, idle: 0.2, unpriced: 30.2999 },
      "Machines were busy for 30s and booted for 0s: their price is not known.",
    ],
  ] as const) {
    const w = having(world(mode));
    w.table.status(id, { phase: "Released", spent: of });
    await release(w.c);
    assert.ok(w.text("GITHUB_STEP_SUMMARY").startsWith("### Runners `4711` given back\n\n"));
    assert.ok(w.text("GITHUB_STEP_SUMMARY").includes(want), w.text("GITHUB_STEP_SUMMARY"));
  }
  for (const changes of [{}, { attempt: 2, spent }]) {
    const w = having(world(mode));
    w.table.status(id, { phase: "Released", ...changes });
    await release(w.c);
    assert.equal(w.text("GITHUB_STEP_SUMMARY"), "");
  }
});

test("nothing to release is no error", async () => {
  const w = world(mode);
  await release(w.c);
  assert.match(w.log.join(), /nothing to release: installation remuda in eu-west-1/);
  assert.equal(w.table.puts("").length, 0);
});

test("H41: a late release of an old attempt frees nothing newer, and waits for nothing", async () => {
  const w = having(world(mode), { attempt: 2 });
  await release(w.c);
  assert.deepEqual([w.table.request(id)?.attempt, w.table.request(id)?.releasedAttempt], [2, 1]);
  assert.equal(w.clock.ticks(), 0);
});

test("H41: what a newer attempt gave back stays given back", async () => {
  const w = having(world(mode), { attempt: 2, releasedAttempt: 2, release: "now" });
  await release(w.c);
  assert.equal(w.table.request(id)?.releasedAttempt, 2);
  assert.equal(w.table.puts("RunRequest").length, 0);
});

test("re-run failed jobs: the release of attempt 3 frees what attempt 1 has asked for", async () => {
  const w = having(world({ ...mode, GITHUB_RUN_ATTEMPT: "3" }));
  w.clock.at(1_000, () => w.table.status(id, { phase: "Released" }));
  await release(w.c);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
});

test("what was released stays so: again is harmless, now hurries a drain, a drain slows no now", async () => {
  for (const [before, asked, after, writes] of [
    ["drain", "drain", "drain", 0],
    ["drain", "now", "now", 1],
    ["now", "drain", "now", 0],
  ] as const) {
    const w = having(world({ ...mode, "INPUT_RELEASE-MODE": asked }), { releasedAttempt: 1, release: before });
    w.table.status(id, { phase: "Released" });
    await release(w.c);
    assert.equal(w.table.request(id)?.release, after);
    assert.equal(w.table.puts("RunRequest").length, writes);
  }
});

test("another write in between: it is read again, never overwritten", async () => {
  const w = having(world(mode));
  let once = true;
  w.table.fault = (c, when) => {
    if (c.name === "put" && when === "before" && once) {
      once = false;
      having(w, { version: 6, count: 9 });
    }
  };
  w.clock.at(1_000, () => w.table.status(id, { phase: "Released" }));
  await release(w.c);
  assert.deepEqual(
    [w.table.request(id)?.version, w.table.request(id)?.count, w.table.request(id)?.releasedAttempt],
    [7, 9, 1],
  );
});

test("still held at the timeout: failed, but the release stays in force", async () => {
  const w = having(world({ ...mode, INPUT_TIMEOUT: "30s" }));
  await assert.rejects(release(w.c), /still held after 30 s .*the release stays in force/);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
});

test("no controller: said after five seconds", async () => {
  const w = having(world({ ...mode, INPUT_TIMEOUT: "30s" }));
  w.table.status(id, { attempt: 0, phase: "Pending" });
  await assert.rejects(release(w.c), /last: waiting for the controller/);
  assert.ok(w.log.some((l) => l.includes("no controller answered yet")));
});

test("cancelled while it waits: the release stays in force", async () => {
  const w = having(world(mode));
  w.clock.at(5_000, w.cancel);
  await assert.rejects(release(w.c), /cancelled; the release stays in force/);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
});

test("cancelled before the release is written: it is written all the same, or left to the post step", async () => {
  for (const back of [4_000, 60_000]) {
    const w = having(world(mode));
    w.table.fault = () => {
      throw unavailable;
    };
    w.clock.at(2_000, w.cancel);
    w.clock.at(back, () => (w.table.fault = () => {}));
    await assert.rejects(release(w.c));
    const pending = w.saved("GITHUB_STATE").pending ?? "";
    assert.equal(w.table.request(id)?.releasedAttempt, back === 4_000 ? 1 : 0);
    assert.equal(pending === "", back === 4_000);
    if (back === 4_000) continue;
    assert.ok(w.clock.ticks() <= 2_000 + 7_500);

    await w.clock.sleep(60_000);
    const runner = new Runner({ STATE_pending: pending }, (line) => w.log.push(line));
    const left = readPending(runner);
    assert.ok(left);
    await giveBackLate(left, w.c.store, w.clock, runner);
    assert.deepEqual([w.table.request(id)?.releasedAttempt, w.table.request(id)?.release], [1, "drain"]);
  }
});

test("a refusal, which only an operator can lift, is not repeated by the post step", async () => {
  const w = having(world(mode));
  w.table.fault = () => {
    throw new TableError("refused", "dynamodb:GetItem on table remuda: access denied");
  };
  await assert.rejects(release(w.c), /access denied/);
  assert.equal(w.saved("GITHUB_STATE").pending, "");
});

test("the post step of a settled step has nothing to do, and of a request that was never stored neither", async () => {
  assert.equal(readPending(new Runner({ STATE_pending: "" })), undefined);
  const w = world();
  await giveBackLate(
    { name: "remuda", region: "eu-west-1", id, attempt: 1, asked: true, mode: "now" },
    w.c.store,
    w.clock,
    w.c.runner,
  );
  assert.equal(w.table.puts("").length, 0);
  assert.match(w.log.join(), /nothing to give back/);
});
