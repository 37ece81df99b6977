// The table in DynamoDB and its queue of notifications in SQS. Only calls of deploy/iam/workflow.json.

import { DynamoDBClient, GetItemCommand, PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import { explain, explainCredentials } from "./awserror.ts";
import type { Clock } from "./clock.ts";
import { fromWire, type Item, type Key, keyOf, toWire, type Wire } from "./item.ts";
import { any, type Table, TableError } from "./table.ts";

// Calls take milliseconds, the first one of a far region with its TLS handshake up to a second: an answer that
// is three seconds late is lost, and asking again is what helps.
const callTimeout = 3_000;
// The search for credentials may ask several places in turn, each with its own timeouts.
const searchTimeout = 20_000;

export class DynamoTable implements Table {
  private readonly db: DynamoDBClient;
  private readonly sqs: SQSClient;
  private readonly queue: string;
  private queueURL: Promise<string> | undefined; // looked up beside the first write, and kept
  private written = false;

  /** Credentials and endpoints are those of the SDK's standard chain. */
  constructor(
    private readonly name: string,
    private readonly region: string,
    private readonly clock: Clock,
  ) {
    const config = { region, maxAttempts: 1 }; // who writes repeats, and knows what an unknown outcome means
    this.db = new DynamoDBClient(config);
    const credentials = this.db.config.credentials; // looked up once, for both
    this.sqs = new SQSClient({ ...config, credentials, useQueueUrlAsEndpoint: false }); // AWS_ENDPOINT_URL goes first
    this.queue = `${name}-events`;
  }

  async get(key: Key, consistent: boolean, signal: AbortSignal): Promise<Item | undefined> {
    const command = new GetItemCommand({ TableName: this.name, Key: keyOf(key), ConsistentRead: consistent });
    const out = await this.call("dynamodb:GetItem", `table ${this.name}`, signal, (o) => this.db.send(command, o));
    const item = out.Item && this.decode(out.Item);
    return item && !this.expired(item) ? item : undefined;
  }

  async put(item: Item, expect: number, signal: AbortSignal): Promise<void> {
    if (!this.written) this.address(signal).catch(() => {}); // who writes notifies next, and says what that fails with
    this.written = true;
    const command = new PutItemCommand({ TableName: this.name, Item: toWire(item), ...this.condition(expect) });
    await this.call("dynamodb:PutItem", `table ${this.name}`, signal, async (o) => {
      try {
        await this.db.send(command, o);
      } catch (error) {
        if ((error as Error).name !== "ConditionalCheckFailedException") throw error;
        const old = (error as { Item?: Wire }).Item;
        const current = old && this.decode(old);
        const message = `${item.PK} ${item.SK}: is not at version ${expect}`;
        throw new TableError("conflict", message, current && !this.expired(current) ? current : undefined);
      }
    });
  }

  /** The conditions of docs/data-model.md. */
  private condition(expect: number): Partial<PutItemCommandInput> {
    if (expect === any) return {};
    const now = { N: String(Math.floor(this.clock.now() / 1000)) };
    return {
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      ...(expect === 0
        ? {
            ConditionExpression: "attribute_not_exists(#pk) OR #expires <= :now",
            ExpressionAttributeNames: { "#pk": "PK", "#expires": "expiresAt" },
            ExpressionAttributeValues: { ":now": now },
          }
        : {
            ConditionExpression: "#version = :expect AND (attribute_not_exists(#expires) OR #expires > :now)",
            ExpressionAttributeNames: { "#version": "version", "#expires": "expiresAt" },
            ExpressionAttributeValues: { ":now": now, ":expect": { N: String(expect) } },
          }),
    };
  }

  async notify(key: Key, signal: AbortSignal): Promise<void> {
    const command = new SendMessageCommand({
      QueueUrl: await this.address(signal),
      MessageBody: JSON.stringify({ PK: key.PK, SK: key.SK }),
    });
    try {
      await this.call("sqs:SendMessage", `queue ${this.queue}`, signal, (o) => this.sqs.send(command, o));
    } catch (error) {
      this.queueURL = undefined; // it may have been deleted and made anew
      throw error;
    }
  }

  /** The queue's. A look that failed is not kept. */
  private address(signal: AbortSignal): Promise<string> {
    if (this.queueURL === undefined) {
      const command = new GetQueueUrlCommand({ QueueName: this.queue });
      const look = this.call("sqs:GetQueueUrl", `queue ${this.queue}`, signal, (o) => this.sqs.send(command, o)).then(
        (out) => out.QueueUrl ?? "",
      );
      look.catch(() => {
        if (this.queueURL === look) this.queueURL = undefined;
      });
      this.queueURL = look;
    }
    return this.queueURL;
  }

  close(): void {
    this.db.destroy();
    this.sqs.destroy();
  }

  /** Makes one try. A call that ends too late, or is called off, has an unknown outcome. */
  private async call<T>(
    name: string,
    resource: string,
    signal: AbortSignal,
    send: (options: { abortSignal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const where = `${resource} in ${this.region}`;
    try {
      await this.credentials(signal); // a slow search for them is no late answer
    } catch (error) {
      throw explainCredentials(error, name, where);
    }
    const late = AbortSignal.timeout(callTimeout);
    try {
      return await send({ abortSignal: AbortSignal.any([signal, late]) });
    } catch (error) {
      if (error instanceof TableError) throw error;
      const silent = late.aborted && (error as Error).name === "AbortError";
      throw explain(silent ? new Error(`no answer within ${callTimeout / 1000} s`) : error, name, where);
    }
  }

  /** Finds credentials, which the SDK keeps until they expire. Nothing in it can be called off, so it is left behind. */
  private async credentials(signal: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(searchTimeout);
    const enough = AbortSignal.any([signal, late]);
    const given = new Promise<never>((_, reject) => {
      const give = () => reject(new Error(late.aborted ? `not found within ${searchTimeout / 1000} s` : "called off"));
      if (enough.aborted) give();
      else enough.addEventListener("abort", give, { once: true });
    });
    await Promise.race([given, this.db.config.credentials()]);
  }

  private decode(wire: Wire): Item {
    try {
      return fromWire(wire);
    } catch (error) {
      throw new TableError("invalid", `table ${this.name}: ${(error as Error).message}`);
    }
  }

  private expired(item: Item): boolean {
    return item.expiresAt !== 0 && item.expiresAt <= Math.floor(this.clock.now() / 1000);
  }
}
