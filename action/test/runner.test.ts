import assert from "node:assert/strict";
import { test } from "node:test";

import { Runner } from "../src/runner.ts";
import { summary } from "../src/summary.ts";

function runner(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const written: [string, string][] = [];
  const r = new Runner(
    env,
    (line) => lines.push(line),
    (file, text) => written.push([file, text]),
  );
  return { r, lines, written };
}

test("inputs are found as the runner names them", () => {
  const { r } = runner({ "INPUT_INSTANCE-COUNT": " 5\n" });
  assert.equal(r.input("instance-count"), "5");
  assert.equal(r.input("timeout"), "");
});

test("what others say cannot be a command or a second line", () => {
  const { r, lines } = runner();
  r.info("::set-env name=PATH::/tmp");
  r.info("  ##[error]x\n::error::y");
  r.info("AWS says ##[set-output name=label]4712");
  r.error("100 %\n::warning::x", "a: b, c");
  assert.deepEqual(lines, [
    "> ::set-env name=PATH::/tmp",
    "  ## [error]x ::error::y",
    "AWS says ## [set-output name=label]4712",
    "::error title=a%3A b%2C c::100 %25%0A::warning::x",
  ]);
});

test("files get one line per value; without a file nothing is written", () => {
  const { r, written } = runner({ GITHUB_OUTPUT: "out" });
  r.output("label", "4711");
  r.saveState("pending", "");
  r.summary("x");
  assert.deepEqual(written, [["out", "label=4711\n"]]);
  assert.throws(() => r.output("label", "a\nb=c"), /one line/);
});

test("one is a runner, two are runners", () => {
  const seat = { instanceId: "i-1", instanceType: "c7i.large", usageClass: "spot", warm: true, seconds: 1 };
  assert.match(summary("4711", [seat], "1.0"), /^### 1 runner `4711` ready in 1\.0 s\n/);
  assert.match(summary("4711", [seat, seat], "1.0"), /^### 2 runners `/);
});

test("a summary's cells stay cells", () => {
  const seat = { instanceId: "i|1", instanceType: "<b>", usageClass: "spot\n|", warm: false, seconds: 1 };
  assert.ok(summary("4711", [seat], "1.0").includes("| i\\|1 | \\<b\\> | spot \\| | cold | 1.0 |"));
});
