import assert from "node:assert/strict";
import { test } from "node:test";

import type { Json } from "../src/item.ts";
import { provision } from "../src/provision.ts";
import { lasted, Waits } from "../src/waits.ts";
import { began, FakeClock, unavailable, type World, world } from "./fakes.ts";

const id = "4711";
const two = { "INPUT_INSTANCE-COUNT": "2" };

/** The controller's clock, an hour ahead of the client's. */
const at = (ms: number) => new Date(began + 3_600_000 + ms).toISOString();

const waiting = (reason: string, message: string, since: number, changed: number): { [name: string]: Json } => ({
  phase: "Pending",
  counts: { wanted: 2, launching: 1 },
  reason,
  message,
  reasonSince: at(since),
  changedAt: at(changed),
});

const ready = {
  phase: "Ready",
  instances: [{ instanceId: "i-1", instanceType: "c7i.large", usageClass: "spot", warm: false, seconds: 21 }],
};

const failed = async (w: World): Promise<string> => {
  await assert.rejects(provision(w.c));
  return w.text("GITHUB_STEP_SUMMARY");
};

const message = async (w: World): Promise<string> => {
  try {
    await provision(w.c);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("provision succeeded");
};

test("the line has the sentence and for how long it has been so, by one clock, and is printed when the sentence changes", async () => {
  const w = world(two);
  w.clock.at(100, () => w.table.status(id, waiting("cap", "caps.maxInstances: 2 of 2 instances live", 100, 100)));
  w.clock.at(9_000, () =>
    w.table.status(id, waiting("launch", "a launch of 1 spot instance is under way", 4_000, 9_000)),
  );
  w.clock.at(25_000, () => w.table.status(id, ready));
  await provision(w.c);
  const lines = w.log.filter((l) => l.startsWith("4711  Pending"));
  const shown = lines.map((l) => /cold 1 {2}(.*) for (\d+) s {2}([\d.]+) s$/.exec(l)?.slice(1) ?? [l]);
  assert.deepEqual(
    shown.map(([sentence]) => sentence),
    [
      "caps.maxInstances: 2 of 2 instances live",
      "a launch of 1 spot instance is under way",
      "a launch of 1 spot instance is under way",
    ],
    w.log.join("\n"),
  );
  for (const [n, since] of [0.1, 4, 4].entries()) {
    const [, took, seconds] = shown[n] ?? [];
    const off = Number(seconds) - since - Number(took); // a look is late by at most 2.4 s, and seconds are cut
    assert.ok(off > -0.1 && off < 3.5, lines[n]);
  }
});

const status = (changes: { [name: string]: Json }) => {
  const w = world();
  w.table.status(id, { ...waiting("github", "GitHub does not answer", 0, 0), ...changes });
  return w.c.store.status(id, { signal: new AbortController().signal } as never);
};

test("no clock, stale status or instant that is none makes a duration negative or absurd", async () => {
  const clock = new FakeClock();
  for (const [changes, want] of [
    [{}, " for 7 s"],
    [{ reasonSince: at(-40_000) }, " for 47 s"],
    [{ reasonSince: at(5_000) }, " for 7 s"],
    [{ reasonSince: "" }, ""],
    [{ reasonSince: "soon" }, ""],
    [{ changedAt: "" }, ""],
  ] as const) {
    const waits = new Waits(clock);
    waits.look(await status(changes));
    await clock.sleep(7_500);
    const wait = waits.look(await status(changes));
    assert.equal(wait && lasted(wait), want, JSON.stringify(changes));
  }
  const late = new Waits(clock);
  late.look(await status({ changedAt: at(1_000) }));
  const written = late.look(await status({ changedAt: at(60_000) })); // the controller knows of more
  assert.equal(written && lasted(written), " for 60 s");
  const again = late.look(await status({ changedAt: at(90_000), reasonSince: at(80_000) })); // it was over meanwhile
  assert.equal(again && lasted(again), " for 10 s");
  assert.equal(late.latest(5).length, 1);
});

test("a request that fails says what it had waited for, once, in the annotation and on the run's page", async () => {
  const fails = async (reason: string, text: string) => {
    const w = world(two);
    w.clock.at(100, () =>
      w.table.status(id, waiting("queue", "4 requests of this class are ahead, the first is 4700", 100, 100)),
    );
    w.clock.at(5_000, () =>
      w.table.status(id, waiting("queue", "3 requests of this class are ahead, the first is 4701", 100, 5_000)),
    );
    w.clock.at(9_000, () => w.table.status(id, waiting("github", "GitHub does not answer", 9_000, 9_000)));
    w.clock.at(70_000, () => w.table.status(id, { phase: "Failed", reason, message: text }));
    return { said: await message(w), page: w.text("GITHUB_STEP_SUMMARY") };
  };
  const timeout = await fails("timeout", "0 of 2 ready after 1m0s");
  assert.match(
    timeout.said,
    /^request 4711 attempt 1: timeout: 0 of 2 ready after 1m0s; waited last: GitHub does not answer for (5[6-9]|6[01]) s$/,
  );
  assert.match(
    timeout.page.replace(/\d+ s/g, "N s").replace(/\d+\.N s/, "N s"),
    new RegExp(
      [
        "^### No runners `4711` after N s",
        "",
        "request 4711 attempt 1: timeout: 0 of 2 ready after 1m0s; waited last: GitHub does not answer for N s",
        "",
        "\\|  \\|  \\|",
        "\\| --- \\| --- \\|",
        "\\| asked for \\| 2 of class large \\(spot; \\\\\\*\\) from installation remuda in eu-west-1, attempt 1; within N s \\|",
        `\\| came to \\| Pending  ready 0/2  warm 0  cold 1, written ${at(9_000)} \\|`,
        `\\| waited for \\| queue: 3 requests of this class are ahead, the first is 4701 for N s, since ${at(100)} \\|`,
        `\\| waited last for \\| github: GitHub does not answer for N s, since ${at(9_000)} \\|\n\n$`,
      ].join("\n"),
    ),
  );
  for (const [reason, text] of [
    ["timeout", "0 of 2 ready after 1m0s: GitHub does not answer"],
    ["github", "it does not answer"],
  ] as const) {
    const { said } = await fails(reason, text);
    assert.equal(said, `request 4711 attempt 1: ${reason}: ${text}`);
  }
});

test("a step that is cancelled while it waits, or that no controller answers, leaves the reason on the run's page", async () => {
  const cancelled = world(two);
  cancelled.clock.at(100, () =>
    cancelled.table.status(id, waiting("script", "the script of instance i-0abc runs", 100, 100)),
  );
  cancelled.clock.at(20_000, cancelled.cancel);
  const page = await failed(cancelled);
  assert.match(
    page,
    /cancelled after 20.0 s \(last: Pending .* the script of instance i-0abc runs for 1\d s\); what was asked/,
  );
  assert.match(page, /\| waited last for \| script: the script of instance i-0abc runs for 1\d s, since 20/);

  const alone = await failed(world({ INPUT_TIMEOUT: "60s" }));
  assert.match(
    alone,
    /^### No runners `4711` after 60.0 s\n\n.*not ready within 60 s \(last: waiting for the controller\)/,
  );
  assert.match(
    alone,
    /\| waited last for \| no\\_controller: waiting for the controller for (58|59|60) s, since 2026-01-02T03:04:05/,
  );
  assert.ok(!alone.includes("came to"), alone);

  const away = world({ INPUT_TIMEOUT: "60s" });
  away.table.fault = () => {
    throw unavailable;
  };
  assert.match(await failed(away), /not ready within 60 s \(last: trying on: connection reset\)/);
});

test("text of others is text on the run's page, and one line", async () => {
  const w = world(two);
  const evil = "a | b <script>alert(1)</script> `x` [y](z) $m$ &lt; **b**\r\n# t\u2028\u001b[31m \\| c";
  w.clock.at(100, () => w.table.status(id, waiting("<b>|", evil, 100, 100)));
  w.clock.at(9_000, () => w.table.status(id, { phase: "Failed", reason: "timeout", message: evil }));
  const page = await failed(w);
  const lines = page.trimEnd().split("\n");
  assert.equal(lines.length, 9, page); // and no row of the instant before the controller answered
  const text = lines.slice(2).join(""); // the heading is our own
  assert.doesNotMatch(text.replace(/\\[!-/:-@[-`{-~]/g, ""), /[<>`[\]&*$_\\\p{Cc}\u2028]/u, text);
  for (const row of lines.slice(4)) assert.equal(row.replace(/\\[\\|]/g, "").split("|").length, 4, row);
});

test("the summary of a success has the phases of the runner that was ready last, if the history tells them", async () => {
  for (const [history, want] of [
    [
      "0 take 2\n21000 slow i-1 a40 l1200 bs18300 h7\n21000 ready",
      "Last ready: i-1, accepted 0.0 s, launch 1.2 s, boot+script 18.3 s, hand-over 0.0 s\n\n",
    ],
    ["0 take 2\n21000 slow i-1\n21000 slow", ""],
    ["0 slow <i>|1 b40 <b>1 z1 b", "Last ready: \\<i\\>\\|1, boot 0.0 s\n\n"],
    ["", ""],
  ] as const) {
    const w = world(two);
    w.table.status(id, { ...ready, history });
    await provision(w.c);
    const page = w.text("GITHUB_STEP_SUMMARY");
    assert.equal(page.slice(page.indexOf("\n\n", page.indexOf("| i-1")) + 2), want, page);
  }
});
