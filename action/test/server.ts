// DynamoDB and SQS as far as the action calls them, over HTTP: what the SDK sends is what is tested.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Wire } from "../src/item.ts";

export interface Received {
  call: string; // such as dynamodb:GetItem
  // biome-ignore lint/suspicious/noExplicitAny: the body is whatever the SDK sends
  body: any;
  signedAt: string; // as AWS writes it, such as 20260102T030405Z
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export class AWSServer {
  readonly items = new Map<string, Wire>();
  readonly received: Received[] = [];
  /** Answers instead of the service. "hang" never answers, "mute" does what was asked first. */
  instead: (call: string) => Answer | "hang" | "mute" | undefined = () => undefined;
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  calls(name: string): Received[] {
    return this.received.filter((r) => r.call === name);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const target = String(request.headers["x-amz-target"] ?? "");
    const form = target === "" ? Object.fromEntries(new URLSearchParams(text)) : undefined; // how STS is asked
    const call = form
      ? `sts:${form.Action}`
      : `${target.startsWith("DynamoDB") ? "dynamodb" : "sqs"}:${target.split(".")[1]}`;
    const body = form ?? JSON.parse(text);
    this.received.push({ call, body, signedAt: String(request.headers["x-amz-date"]) });
    const instead = this.instead(call);
    if (instead === "hang") return;
    const answer = typeof instead === "object" ? instead : this.answer(call, body);
    if (instead === "mute") return;
    response.writeHead(answer.status, {
      "content-type": form ? "text/xml" : "application/x-amz-json-1.0",
      ...answer.headers,
    });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  }

  private answer(call: string, body: Received["body"]): Answer {
    const key = (w: Wire) => `${w.PK?.S} ${w.SK?.S}`;
    switch (call) {
      case "dynamodb:GetItem": {
        const item = this.items.get(key(body.Key));
        return { status: 200, body: item ? { Item: item } : {} };
      }
      case "dynamodb:PutItem": {
        const old = this.items.get(key(body.Item));
        const condition: string = body.ConditionExpression ?? "";
        const holds =
          condition === "" ||
          (condition.startsWith("#version") ? old?.version?.N === body.ExpressionAttributeValues[":expect"].N : !old);
        if (!holds) {
          const type = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
          const shown = old && body.ReturnValuesOnConditionCheckFailure === "ALL_OLD" ? { Item: old } : {};
          return { status: 400, body: { __type: type, message: "The conditional request failed", ...shown } };
        }
        this.items.set(key(body.Item), body.Item);
        return { status: 200, body: {} };
      }
      case "sqs:GetQueueUrl":
        return { status: 200, body: { QueueUrl: `https://sqs.example.invalid/1/${body.QueueName}` } };
      default:
        return { status: 200, body: { MessageId: "m", MD5OfMessageBody: md5(body.MessageBody) } }; // the SDK compares
    }
  }
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
