// Requests of a run: the rules of store/submit_test.go, and what the steps make of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Failure, readPending } from "../src/client.ts";
import { provision } from "../src/provision.ts";
import { decodeRequest, encodeRequest, type RunRequest } from "../src/records.ts";
import { giveBackLate, release } from "../src/release.ts";
import { type Env, Runner } from "../src/runner.ts";
import { RequestError, Store } from "../src/store.ts";
import { TableError } from "../src/table.ts";
import { hasRun, noRun, over, ownAttempt, validRepository } from "../src/workflow.ts";
import { unavailable, type World, world } from "./fakes.ts";

const id = "4711";

/** A request of run 4711, of its own attempt and the run's; 10 and more are the controller's. A run attempt of 0: none. */
function asked(attempt: number, runAttempt: number, count: number, changes: Partial<RunRequest> = {}): RunRequest {
  const run = { repository: "octo/app", workflowRun: 4711, workflowAttempt: runAttempt };
  return {
    ...{ id, attempt, count, usageClass: ["spot"], allowedInstanceTypes: ["*"], resourceClass: "large" },
    ...{ maxRuntime: 0, timeout: 600, releasedAttempt: 0, release: "", createdAt: "", version: 5, expiresAt: 0 },
    ...noRun,
    ...(runAttempt > 0 ? run : {}),
    ...(count >= 10 ? { originalCount: 20 } : {}),
    ...changes,
  };
}

const drained = (releasedAttempt: number, releaseReason = "") => ({
  releasedAttempt,
  release: "drain" as const,
  releaseReason,
});

test("what is asked for over what is stored", () => {
  const larger = (attempt: number) => ({ ...asked(attempt, 2, 3), resourceClass: "xlarge" });
  const onDemand = { ...asked(2, 2, 12), usageClass: ["on-demand"] };
  const either = { ...asked(2, 2, 3), usageClass: ["spot", "on-demand"] };
  const cases: [string, RunRequest, RunRequest, RunRequest | undefined][] = [
    ["same again", asked(1, 1, 2), asked(1, 1, 2), undefined],
    ["same again after a take-over", asked(3, 1, 2), asked(1, 1, 2), undefined],
    ["a later run attempt", asked(1, 1, 2), asked(2, 2, 3), asked(2, 2, 3)],
    ["over more own attempts", asked(4, 1, 2, drained(4)), asked(2, 2, 3), asked(5, 2, 3, drained(4))],
    ["taken over", asked(2, 2, 12), asked(2, 2, 3), asked(2, 2, 3)],
    ["taken over, of another class", asked(2, 2, 12), larger(2), larger(3)],
    ["taken over, on demand", onDemand, either, either],
    ["taken over at a higher attempt", asked(3, 2, 12), asked(2, 2, 3), asked(3, 2, 3)],
    ["taken over, given back", asked(2, 2, 12, drained(2, "x")), asked(2, 2, 3), asked(3, 2, 3, drained(2, "x"))],
    ["taken over, given back by a client", asked(2, 2, 12, drained(2)), asked(2, 2, 3), asked(3, 2, 3, drained(2))],
    [
      "asked again as the run goes on",
      asked(1, 1, 3, drained(1, "x")),
      asked(1, 1, 4),
      asked(2, 1, 4, drained(1, "x")),
    ],
    ["asked again after its own release", asked(1, 1, 3, drained(1)), asked(1, 1, 3), undefined],
    ["named over no run", asked(1, 0, 2), asked(2, 2, 3), asked(2, 2, 3)],
    ["named over no run of the same attempt", asked(1, 0, 2), asked(1, 1, 2), undefined],
  ];
  for (const [name, have, want, then] of cases) assert.deepEqual(over(have, want), then, name);
});

test("the attempt that a release means", () => {
  for (const [have, attempt, want] of [
    [asked(1, 1, 2), 1, 1],
    [asked(3, 1, 12), 1, 3],
    [asked(3, 1, 2), 2, 3],
    [asked(3, 2, 2), 1, 2],
    [asked(3, 0, 2), 2, 2],
    [asked(1, 0, 2), 3, 1],
  ] as const) {
    assert.equal(ownAttempt(have, attempt), want, JSON.stringify(have));
  }
});

test("repositories", () => {
  for (const text of ["octo/app", "o_x/.github", "A1/b.c_d-e"]) assert.ok(validRepository(text), text);
  for (const text of ["", "octo", "octo/", "/app", "a/b/c", "octo/.", "octo/..", "../app", "octo/a b", "octo/app\n"])
    assert.ok(!validRepository(text), text);
});

/** Lets a role write no run, as the policy of e997646. */
function earlierPolicy(w: World): World {
  w.table.fault = (c, when) => {
    if (c.item && c.name === "put" && when === "before" && Object.keys(c.item.attributes).some((name) => name in noRun))
      throw new TableError("refused", "dynamodb:PutItem on table remuda: access denied");
  };
  return w;
}

const provisioned = (w: World, at: number, attributes = {}) => {
  w.clock.at(at, () => w.table.status(id, { phase: "Ready", counts: { wanted: 1, ready: 1 }, ...attributes }));
  return provision(w.c);
};

test("the request names its run", async () => {
  const w = world({ GITHUB_RUN_ATTEMPT: "2", "INPUT_REQUEST-SUFFIX": "b" });
  w.table.status("4711-b", { attempt: 2, phase: "Ready" });
  await provision(w.c);
  const { repository, workflowRun, workflowAttempt, noWait } = w.table.request("4711-b") as RunRequest;
  assert.deepEqual([repository, workflowRun, workflowAttempt, noWait], ["octo/app", 4711, 2, false]);
  const attributes = Object.keys(w.table.puts("RunRequest")[0]?.item?.attributes ?? {});
  assert.ok(attributes.includes("repository") && !attributes.includes("noWait"), attributes.join());
});

test("wait: false stores, notifies and returns; nothing is left for the post step, and no client was seen", async () => {
  const w = world({ INPUT_WAIT: "false" });
  await provision(w.c);
  assert.equal(w.table.request(id)?.noWait, true);
  assert.equal(w.clock.ticks(), 0);
  assert.deepEqual([w.table.puts("RunRequest").length, w.table.puts("RunClient").length], [1, 0]);
  assert.equal(w.table.calls.filter((c) => c.name === "notify").length, 1);
  assert.deepEqual(w.saved("GITHUB_OUTPUT"), { seconds: "0.0" });
  assert.equal(w.saved("GITHUB_STATE").pending, "");
  assert.equal(w.text("GITHUB_STEP_SUMMARY"), "");
});

test("a step that waits does so for a request that nobody else waits for, and is seen", async () => {
  const w = world();
  w.table.set(encodeRequest(asked(1, 1, 1, { noWait: true })));
  const { version } = w.table.request(id) ?? {};
  await provisioned(w, 20_000);
  assert.equal(w.table.request(id)?.version, version);
  assert.ok(w.clock.ticks() >= 20_000 && w.table.puts("RunClient").length >= 4);
});

test("wait: false, cancelled as it is stored: given back", async () => {
  const w = world({ INPUT_WAIT: "false" });
  w.table.fault = (c, when) => {
    if (c.name === "put" && when === "after") w.cancel();
  };
  await assert.rejects(provision(w.c), /cancelled .*was given back/);
  assert.equal(w.table.request(id)?.releasedAttempt, 1);
});

test("a role of an earlier policy: stored at once without the run, one warning, waited for as before", async () => {
  for (const wait of ["true", "false"]) {
    const w = earlierPolicy(world({ INPUT_WAIT: wait }));
    await provisioned(w, 20_000);
    const stored = w.table.request(id) as RunRequest;
    assert.ok(!hasRun(stored));
    assert.equal(stored.count, 1);
    assert.ok(w.clock.ticks() >= 20_000 && w.table.puts("RunClient").length >= 4);
    assert.ok((w.table.puts("RunRequest")[1]?.at ?? 1) === 0, "the second write waited");
    const warnings = w.log.filter((l) => l.startsWith("::warning") && l.includes("deploy/iam/workflow.json"));
    assert.equal(warnings.length, 1, w.log.join("\n"));

    const r = earlierPolicy(world({ INPUT_MODE: "release" }));
    r.table.set(encodeRequest(asked(2, 1, 12)));
    r.table.status(id, { attempt: 2, phase: "Released" });
    await release(r.c);
    const back = r.table.request(id) as RunRequest;
    assert.deepEqual([back.releasedAttempt, back.release, hasRun(back)], [2, "drain", false]);
  }
});

test("a role of an earlier policy whose first write got no answer: stored without the run, or found as it was stored", async () => {
  for (const applied of [false, true]) {
    const w = applied ? world() : earlierPolicy(world());
    const refuse = w.table.fault;
    let calls = 0;
    w.table.fault = (c, when) => {
      const ours = c.key.endsWith("RunRequest") && c.name === "put";
      if (ours && when === (applied ? "after" : "before") && calls++ === 0) throw unavailable;
      if (ours && when === "before" && applied && calls === 1 && "repository" in (c.item?.attributes ?? {}))
        throw new TableError("refused", "access denied"); // the policy was replaced in between
      refuse(c, when);
    };
    await provisioned(w, 20_000);
    const stored = w.table.request(id) as RunRequest;
    assert.deepEqual([stored.version, stored.releasedAttempt, hasRun(stored)], [1, 0, applied]);
    assert.equal(w.log.filter((l) => l.includes("deploy/iam/workflow.json")).length, applied ? 0 : 1, w.log.join("\n"));
    assert.equal(w.c.store.unsure, undefined);
  }
});

test("H13: a refusal after a lost reply is not definite, even if what has no run is refused too", async () => {
  const w = world();
  let calls = 0;
  w.table.fault = (c, when) => {
    if (!c.key.endsWith("RunRequest") || c.name !== "put" || when !== "before") return;
    throw calls++ === 0 ? unavailable : new TableError("refused", "access denied");
  };
  await assert.rejects(provision(w.c), /access denied \(after: connection reset\)/);
  const asks = w.table.puts("RunRequest").filter((c) => c.item?.attributes.releasedAttempt === 0);
  assert.deepEqual(
    asks.map((c) => ["repository" in (c.item?.attributes ?? {}), c.expect]),
    [
      [true, 0],
      [true, 0],
      [false, 0],
    ],
  );
  assert.equal(w.c.store.unsure?.version, 1);
});

test("a refusal for another reason is said once, and no policy is blamed", async () => {
  const w = world();
  w.table.fault = (c) => {
    if (c.name === "put") throw new TableError("refused", "dynamodb:PutItem: credentials have expired");
  };
  await assert.rejects(provision(w.c), /credentials have expired$/);
  assert.equal(w.log.filter((l) => l.startsWith("::warning")).length, 0);
});

test("a step takes over what the controller asked for, and trusts no answer to that", async () => {
  const w = world({ GITHUB_RUN_ATTEMPT: "2" });
  w.table.set(encodeRequest(asked(3, 2, 12)));
  w.table.status(id, { attempt: 3, phase: "Ready", originalCount: 20, counts: { wanted: 12, ready: 12 } });
  w.clock.at(6_000, () => w.table.status(id, { attempt: 3, phase: "Pending", counts: { wanted: 1 } }));
  await provisioned(w, 20_000, { attempt: 3 });
  const stored = w.table.request(id) as RunRequest;
  assert.deepEqual([stored.attempt, stored.count, stored.originalCount, stored.version], [3, 1, 0, 6]);
  assert.ok(w.clock.ticks() >= 20_000);
  assert.ok(w.table.puts("RunClient").every((c) => c.item?.attributes.attempt === 3));
  assert.ok(w.table.calls.filter((c) => c.name === "notify").length >= 2, "not notified until it was answered");
});

test("cancelled after it took over: exactly that attempt is given back, by the step or by its post step", async () => {
  for (const away of [false, true]) {
    const w = world({ GITHUB_RUN_ATTEMPT: "2" });
    w.table.set(encodeRequest(asked(3, 2, 12)));
    w.clock.at(3_000, () => {
      w.cancel();
      if (away)
        w.table.fault = () => {
          throw unavailable;
        };
    });
    await assert.rejects(provision(w.c), Failure);
    if (away) {
      w.table.fault = () => {};
      const runner = new Runner({ STATE_pending: w.saved("GITHUB_STATE").pending } as Env, (line) => w.log.push(line));
      const left = readPending(runner);
      assert.ok(left);
      await giveBackLate(left, w.c.store, w.clock, runner);
    }
    const stored = w.table.request(id) as RunRequest;
    assert.deepEqual([stored.releasedAttempt, stored.release, stored.releaseReason], [3, "now", ""]);
  }
});

test("killed before its write: the post step leaves alone what the controller asked for; that of a release does not", async () => {
  for (const [mode, freed] of [
    ["provision", 0],
    ["release", 2],
  ] as const) {
    const w = world({ GITHUB_RUN_ATTEMPT: "2", INPUT_MODE: mode });
    w.table.set(encodeRequest(asked(2, 2, 12)));
    w.table.fault = () => {
      throw new Error("killed");
    };
    await assert.rejects(mode === "provision" ? provision(w.c) : release(w.c), /killed/);
    w.table.fault = () => {};
    // What was saved last before the end: what a step that goes on settles is not.
    const saved = w.text("GITHUB_STATE").split("\n").find(Boolean)?.slice("pending=".length) ?? "";
    const runner = new Runner({ STATE_pending: saved } as Env, (line) => w.log.push(line));
    const left = readPending(runner);
    assert.ok(left);
    await giveBackLate(left, new Store(w.table), w.clock, runner);
    assert.equal(w.table.request(id)?.releasedAttempt, freed, mode);
  }
});

test("cancelled while its write is unknown, over what the controller asked for: that is kept, and a late write meets it", async () => {
  const w = world({ GITHUB_RUN_ATTEMPT: "2" });
  w.table.set(encodeRequest(asked(2, 2, 12)));
  let late: ReturnType<typeof encodeRequest> | undefined;
  w.table.fault = (c, when) => {
    if (c.name === "put" && when === "before" && !late) {
      late = c.item;
      w.cancel();
      throw unavailable;
    }
  };
  await assert.rejects(provision(w.c), /cancelled/);
  const stored = w.table.request(id) as RunRequest;
  assert.deepEqual(stored, { ...asked(2, 2, 12), version: 6 });
  assert.deepEqual(decodeRequest(late as NonNullable<typeof late>).version, 6);
  await assert.rejects(w.table.put(late as NonNullable<typeof late>, 5), /conflict/);
});

test("an earlier run attempt is refused whatever its own attempt is", async () => {
  const w = world();
  w.table.set(encodeRequest(asked(2, 2, 1)));
  await assert.rejects(provision(w.c), (error: Error) => {
    assert.ok(error instanceof RequestError);
    assert.match(error.message, /attempt 2 of this run has asked already/);
    return true;
  });
});

test("release frees all that the controller asked for in this run attempt, and a late one nothing newer", async () => {
  const all = world({ INPUT_MODE: "release" });
  all.table.set(encodeRequest(asked(3, 1, 12, drained(2, "run_waits"))));
  all.table.status(id, { attempt: 3, phase: "Ready", originalCount: 20 });
  all.clock.at(9_000, () => all.table.status(id, { attempt: 3, phase: "Released", originalCount: 20 }));
  await release(all.c);
  assert.deepEqual([all.table.request(id)?.releasedAttempt, all.table.request(id)?.releaseReason], [3, ""]);
  assert.ok(all.clock.ticks() >= 9_000);

  const lateOne = world({ INPUT_MODE: "release" });
  lateOne.table.set(encodeRequest(asked(3, 2, 1)));
  lateOne.table.status(id, { attempt: 3, phase: "Ready" });
  await release(lateOne.c);
  assert.deepEqual([lateOne.table.request(id)?.releasedAttempt, lateOne.clock.ticks()], [2, 0]);
});

test("a client's release counts, also over the controller's", async () => {
  const w = world({ INPUT_MODE: "release" });
  w.table.set(encodeRequest(asked(1, 1, 1, drained(1, "run_waits"))));
  w.table.status(id, { phase: "Released" });
  await release(w.c);
  assert.equal(w.table.request(id)?.releaseReason, "");
});

test("a run that is not watched: said after Ready, with what to do", async () => {
  for (const [state, want] of [
    ["", undefined],
    ["watched", undefined],
    [
      "denied",
      "4711  its run is not watched (denied: GitHub does not show its runs to the controller): add a release job, if it has none",
    ],
    ["later", "4711  its run is not watched (later): add a release job, if it has none"],
  ] as const) {
    const w = world();
    await provisioned(w, 1_000, { watch: { state } });
    const at = w.log.findIndex((l) => l.includes("not watched"));
    assert.equal(w.log[at], want);
    assert.ok(want === undefined || at > w.log.findIndex((l) => l.startsWith("4711  Ready")));
  }
});
