import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { explain } from "../src/awserror.ts";
import { systemClock } from "../src/clock.ts";
import { DynamoTable } from "../src/dynamo.ts";
import { toWire } from "../src/item.ts";
import { requestKey } from "../src/records.ts";
import { any, TableError } from "../src/table.ts";
import { type Answer, AWSServer } from "./server.ts";

const never = new AbortController().signal;
let aws: AWSServer;
let table: DynamoTable;

before(async () => {
  aws = new AWSServer();
  process.env.AWS_ACCESS_KEY_ID = "AKIDTEST";
  process.env.AWS_SECRET_ACCESS_KEY = "forTestsOnly";
  process.env.AWS_ENDPOINT_URL = await aws.start();
  table = new DynamoTable("remuda", "eu-west-1", systemClock);
});
after(() => {
  table.close();
  aws.stop();
});
beforeEach(() => {
  aws.instead = () => undefined;
  aws.items.clear();
  aws.received.length = 0;
});

const item = { ...requestKey("4711"), version: 1, expiresAt: 0, attributes: { attempt: 1, release: "" } };

const failure = async (call: Promise<unknown>): Promise<TableError> => {
  const error = await call.then(
    () => undefined,
    (e) => e,
  );
  assert.ok(error instanceof TableError, String(error));
  return error;
};

test("what is put is what is read; reads of the request are consistent, those of the status are not", async () => {
  await table.put(item, 0, never);
  assert.deepEqual(await table.get(item, true, never), item);
  assert.equal(await table.get({ PK: "RUN#1", SK: "TYPE#RunStatus" }, false, never), undefined);
  assert.deepEqual(
    aws.calls("dynamodb:GetItem").map((r) => [r.body.TableName, r.body.ConsistentRead]),
    [
      ["remuda", true],
      ["remuda", false],
    ],
  );
});

test("the conditions are those of docs/data-model.md", async () => {
  await table.put(item, 0, never);
  await table.put({ ...item, version: 2 }, 1, never);
  await table.put({ ...item, version: 0 }, any, never);
  const [created, replaced, unconditional] = aws.calls("dynamodb:PutItem").map((r) => r.body);
  assert.equal(created.ConditionExpression, "attribute_not_exists(#pk) OR #expires <= :now");
  assert.equal(
    replaced.ConditionExpression,
    "#version = :expect AND (attribute_not_exists(#expires) OR #expires > :now)",
  );
  assert.deepEqual(replaced.ExpressionAttributeValues[":expect"], { N: "1" });
  assert.ok(Math.abs(Number(replaced.ExpressionAttributeValues[":now"].N) - Date.now() / 1000) < 60);
  assert.equal(unconditional.ConditionExpression, undefined);
});

test("a conflict shows what is stored; what has expired counts as absent", async () => {
  aws.items.set("RUN#4711 TYPE#RunRequest", toWire({ ...item, version: 7 }));
  const conflict = await failure(table.put(item, 0, never));
  assert.deepEqual([conflict.kind, conflict.current?.version], ["conflict", 7]);

  aws.items.set("RUN#4711 TYPE#RunRequest", toWire({ ...item, version: 7, expiresAt: 1 }));
  assert.equal((await failure(table.put(item, 0, never))).current, undefined);
  assert.equal(await table.get(item, true, never), undefined);
});

test("G1: the queue's URL is asked for beside the first write, before anything is notified", async () => {
  const first = new DynamoTable("remuda", "eu-west-1", systemClock);
  aws.instead = (call) => (call === "dynamodb:PutItem" ? "hang" : undefined);
  const stop = new AbortController();
  const write = failure(first.put(item, 0, stop.signal));
  const begun = () => ["sqs:GetQueueUrl", "dynamodb:PutItem"].every((call) => aws.calls(call).length > 0);
  while (!begun()) await systemClock.sleep(1);
  aws.instead = () => undefined;
  await first.notify(item, never);
  stop.abort();
  await write;
  await first.put(item, 0, never);
  assert.equal(aws.calls("sqs:GetQueueUrl").length, 1);
  first.close();
});

test("a notification is the key, in the queue of the table; its URL is asked for once, and again after a failure", async () => {
  const table = new DynamoTable("remuda", "eu-west-1", systemClock);
  await table.notify(item, never);
  await table.notify(item, never);
  const [sent] = aws.calls("sqs:SendMessage");
  assert.equal(sent?.body.MessageBody, '{"PK":"RUN#4711","SK":"TYPE#RunRequest"}');
  assert.equal(sent?.body.QueueUrl, "https://sqs.example.invalid/1/remuda-events");
  assert.equal(aws.calls("sqs:GetQueueUrl").length, 1);

  const missing = { status: 400, body: { __type: "com.amazonaws.sqs#QueueDoesNotExist", message: "gone" } };
  aws.instead = (call) => (call === "sqs:SendMessage" ? missing : undefined);
  assert.match(
    (await failure(table.notify(item, never))).message,
    /^sqs:SendMessage on queue remuda-events in eu-west-1: not found/,
  );
  aws.instead = () => undefined;
  await table.notify(item, never);
  assert.equal(aws.calls("sqs:GetQueueUrl").length, 2);
  table.close();
});

const dynamodb = (status: number, type: string, message = ""): Answer => ({ status, body: { __type: type, message } });
const answers: [string, Answer, TableError["kind"], RegExp][] = [
  [
    "denied",
    dynamodb(400, "com.amazon.coral.service#AccessDeniedException", "User: u is not authorized"),
    "refused",
    /allow dynamodb:GetItem for this workflow's role \(deploy\/iam\/workflow\.json\): .*User: u/,
  ],
  [
    "no table",
    dynamodb(400, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"),
    "refused",
    /table remuda in eu-west-1: not found; check the inputs name and aws-region, or run `remuda init`/,
  ],
  [
    "expired credentials",
    dynamodb(400, "com.amazon.coral.service#ExpiredTokenException"),
    "refused",
    /credentials have expired; take the role right before this step, for longer than its timeout/,
  ],
  [
    "unknown key",
    dynamodb(400, "com.amazon.coral.service#UnrecognizedClientException"),
    "refused",
    /credentials refused/,
  ],
  [
    "throttled",
    dynamodb(400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"),
    "unavailable",
    /throttled/,
  ],
  ["throttled too", dynamodb(400, "com.amazon.coral.availability#ThrottlingException"), "unavailable", /throttled/],
  ["500", dynamodb(500, "com.amazonaws.dynamodb.v20120810#InternalServerError"), "unavailable", /no usable answer/],
  ["503 of a proxy", { status: 503, body: "<html>busy</html>" }, "unavailable", /no usable answer/],
  ["404 of a web server", { status: 404, body: "" }, "refused", /HTTP 404 that is not of AWS; check AWS_ENDPOINT_URL/],
  ["403 of a proxy", { status: 403, body: "<html>no</html>" }, "refused", /HTTP 403 that is not of AWS/],
  ["200 of a proxy", { status: 200, body: "<html>welcome</html>" }, "unavailable", /no usable answer/],
  [
    "validation",
    dynamodb(400, "com.amazon.coral.validate#ValidationException", "Item size"),
    "invalid",
    /refused as invalid: ValidationException: Item size/,
  ],
];

for (const [name, answer, kind, message] of answers) {
  test(`what an answer means: ${name}`, async () => {
    aws.instead = () => answer;
    const error = await failure(table.get(item, true, never));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    assert.ok(error.message.startsWith("dynamodb:GetItem on table remuda in eu-west-1: "), error.message);
    assert.equal(aws.received.length, 1, "one try: who writes must know how often");
  });
}

test("a clock that is off by hours: the next call is signed by that of AWS", async () => {
  const clock = new DynamoTable("remuda", "eu-west-1", systemClock);
  const ahead = new Date(Date.now() + 3 * 3600_000);
  const message = "Signature expired: 20260102T030405Z is now earlier than 20260102T060405Z";
  const type = "com.amazon.coral.service#InvalidSignatureException";
  aws.instead = () => ({ ...dynamodb(400, type, message), headers: { date: ahead.toUTCString() } });
  const error = await failure(clock.get(item, true, never));
  assert.equal(error.kind, "unavailable");
  assert.match(error.message, /this machine's clock is wrong; trying with that of AWS: .*Signature expired/);
  aws.instead = () => undefined;
  await clock.get(item, true, never);
  const hour = (at: Date) => at.toISOString().slice(0, 13).replace(/-/g, "");
  const signed = aws.received[1]?.signedAt ?? "";
  assert.ok(signed >= hour(ahead), `signed at ${signed}, want ${hour(ahead)}`);
  clock.close();
});

test("a region without the service: said so, and tried on, since names fail for a while, too", () => {
  const cause = Object.assign(new Error("getaddrinfo ENOTFOUND dynamodb.eu-west-9.amazonaws.com"), {
    code: "ENOTFOUND",
  });
  const error = explain(cause, "dynamodb:GetItem", "table remuda in eu-west-9");
  assert.equal(error.kind, "unavailable");
  assert.match(error.message, /in eu-west-9: no such address; check the input aws-region and the network: getaddrinfo/);
});

test("no answer, or none in time: unavailable", async () => {
  aws.instead = () => "hang";
  const late = await failure(table.get(item, true, never));
  assert.equal(late.kind, "unavailable");
  assert.match(late.message, /no answer within 3 s/);
  const cancelled = new AbortController();
  const call = failure(table.get(item, true, cancelled.signal));
  cancelled.abort();
  assert.equal((await call).kind, "unavailable");
});

test("a bad item names itself", async () => {
  aws.items.set("RUN#4711 TYPE#RunRequest", { ...toWire(item), version: { S: "x" } });
  const error = await failure(table.get(item, true, never));
  assert.equal(error.kind, "invalid");
  assert.match(error.message, /version: must be a whole number/);
});
