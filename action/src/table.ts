// What the action needs of a table of items. dynamo.ts is the table, a test brings its own.

import type { Item, Key } from "./item.ts";

/** The version of records that are written unconditionally. */
export const any = -1;

export interface Table {
  /** Reads one item; one past its expiry is absent. */
  get(key: Key, consistent: boolean, signal: AbortSignal): Promise<Item | undefined>;
  /** Writes item over version expect (0: absent or expired). One try. */
  put(item: Item, expect: number, signal: AbortSignal): Promise<void>;
  /** Tells the controller that the item of key has changed. */
  notify(key: Key, signal: AbortSignal): Promise<void>;
}

/**
 * What a failed call means:
 * unavailable: no usable answer; the call may have had its effect, and may succeed later;
 * refused: permission, credentials or the table are missing: only an operator can help;
 * invalid: the call as it is will never succeed;
 * conflict: another version is stored.
 */
export type Kind = "unavailable" | "refused" | "invalid" | "conflict";

export class TableError extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
    /** With a conflict: what is stored, undefined if nothing is. */
    readonly current?: Item,
  ) {
    super(message);
  }
}

export function kindOf(error: unknown): Kind | undefined {
  return error instanceof TableError ? error.kind : undefined;
}
