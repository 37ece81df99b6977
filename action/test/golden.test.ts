// One wire format: Go and TypeScript read and write the same files (store/testdata).

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { fromWire, type Item, sameItem, toWire } from "../src/item.ts";
import {
  decodeClient,
  decodeRequest,
  decodeStatus,
  encodeClient,
  encodeRequest,
  instant,
  type RunRequest,
} from "../src/records.ts";
import { noRun } from "../src/workflow.ts";
import { began } from "./fakes.ts";

const folder = "../store/testdata";
const golden = (kind: string): Item => JSON.parse(readFileSync(`${folder}/${kind}.json`, "utf8"));

for (const file of readdirSync(folder).filter((f) => f.endsWith(".json"))) {
  test(`golden ${file} survives the wire`, () => {
    const item = golden(file.replace(".json", ""));
    assert.deepEqual(fromWire(toWire(item)), item);
  });
}

test("golden RunRequest", () => {
  const want: RunRequest = {
    id: "4711-b",
    attempt: 2,
    count: 10,
    usageClass: ["spot", "on-demand"],
    allowedInstanceTypes: ["c*", "m7i.large"],
    resourceClass: "large",
    maxRuntime: 1800,
    timeout: 1.5,
    releasedAttempt: 1,
    release: "now",
    createdAt: instant(began),
    repository: "octo/repo",
    workflowRun: 4711,
    workflowAttempt: 2,
    noWait: true,
    originalCount: 12,
    releaseReason: "run_waits",
    version: 3,
    expiresAt: 1767409445,
  };
  assert.deepEqual(decodeRequest(golden("RunRequest")), want);
  assert.deepEqual(encodeRequest(want), golden("RunRequest"));
});

test("what a request does not say of its run is no attribute, as a role of an earlier policy may not write it", () => {
  const names = Object.keys(noRun);
  const { attributes, ...rest } = golden("RunRequest");
  const without = Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)));
  const decoded = decodeRequest({ ...rest, attributes: without });
  assert.deepEqual({ ...decoded, ...noRun }, decoded);
  assert.deepEqual(encodeRequest(decoded).attributes, without);
  assert.equal(Object.keys(attributes).length, Object.keys(without).length + names.length);
});

test("what cannot be read of a run is unset, and the rest of the request is read", () => {
  for (const name of Object.keys(noRun) as (keyof typeof noRun)[]) {
    for (const value of [null, [], { a: 1 }, name === "repository" || name === "releaseReason" ? 1 : "x"]) {
      const item = golden("RunRequest");
      item.attributes[name] = value;
      const r = decodeRequest(item);
      assert.deepEqual([r[name], r.count], [noRun[name], 10], name);
    }
  }
});

test("golden RunClient", () => {
  const want = { id: "4711", attempt: 2, seenAt: instant(began), expiresAt: 1767409445 };
  assert.deepEqual(decodeClient(golden("RunClient")), want);
  assert.deepEqual(encodeClient(want), golden("RunClient"));
});

test("golden RunStatus: no attribute is overlooked", () => {
  const item = golden("RunStatus");
  const { id, version, expiresAt, ...attributes } = decodeStatus(item);
  assert.deepEqual({ PK: `RUN#${id}`, SK: "TYPE#RunStatus", version, expiresAt, attributes }, item);
});

test("a status has no instances: an empty list, or null", () => {
  for (const instances of [[], null]) {
    const item = golden("RunStatus");
    item.attributes.instances = instances;
    assert.deepEqual(decodeStatus(item).instances, []);
  }
});

test("unknown attributes are ignored when read", () => {
  const item = golden("RunRequest");
  item.attributes.novelty = { a: [1] };
  assert.equal(decodeRequest(item).resourceClass, "large");
});

test("a record that breaks its rules is refused", () => {
  const broken: [string, (item: Item) => void][] = [
    ["RunStatus", (i) => (i.attributes.phase = "Odd")],
    ["RunStatus", (i) => (i.attributes.instances = ["i-1"])],
    ["RunStatus", (i) => (i.attributes.attempt = "2")],
    ["RunStatus", (i) => (i.PK = "LAUNCH#4711")],
    ["RunRequest", (i) => (i.attributes.attempt = 0)],
    ["RunRequest", (i) => (i.attributes.release = "later")],
    ["RunRequest", (i) => (i.attributes.usageClass = [1])],
  ];
  for (const [kind, breakIt] of broken) {
    const item = golden(kind);
    breakIt(item);
    assert.throws(() => (kind === "RunStatus" ? decodeStatus(item) : decodeRequest(item)), /unexpected value/);
  }
});

test("what remuda never writes changes nothing", () => {
  const wire = { ...toWire(golden("RunClient")), note: { SS: ["a"] }, blob: { B: new Uint8Array(1) } };
  assert.deepEqual(fromWire(wire).attributes, { ...golden("RunClient").attributes, note: null, blob: null });
  assert.throws(() => fromWire({ ...wire, version: { S: "1" } }), /version/);
  assert.throws(() => fromWire({ ...wire, expiresAt: { N: "1.5" } }), /expiresAt/);
});

test("the same item in another order is the same, anything else is not", () => {
  const a = golden("RunRequest");
  const reordered = { ...a, attributes: Object.fromEntries(Object.entries(a.attributes).reverse()) };
  assert.ok(sameItem(a, reordered));
  for (const [name, v] of Object.entries(a.attributes)) {
    const other = { ...a, attributes: { ...a.attributes, [name]: [v] } };
    assert.ok(!sameItem(a, other), name);
  }
  assert.ok(!sameItem(a, { ...a, version: 4 }));
  assert.ok(!sameItem(a, { ...a, expiresAt: 0 }));
  assert.ok(!sameItem(a, { ...a, attributes: { ...a.attributes, more: 1 } }));
});
