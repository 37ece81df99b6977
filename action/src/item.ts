// The items of the table, as docs/data-model.md describes them and store/testdata holds them.

import type { AttributeValue } from "@aws-sdk/client-dynamodb";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Key {
  PK: string;
  SK: string;
}

export interface Item extends Key {
  version: number; // from 1; 0 on records that are written unconditionally
  expiresAt: number; // seconds since 1970; 0: never
  attributes: { [name: string]: Json };
}

export type Wire = Record<string, AttributeValue>;

const own = ["PK", "SK", "version", "expiresAt"];

export function keyOf(key: Key): Wire {
  return { PK: { S: key.PK }, SK: { S: key.SK } };
}

export function toWire(item: Item): Wire {
  const out = keyOf(item);
  if (item.version !== 0) out.version = { N: String(item.version) };
  if (item.expiresAt !== 0) out.expiresAt = { N: String(item.expiresAt) };
  for (const [name, v] of Object.entries(item.attributes)) {
    if (own.includes(name)) throw new Error(`attribute ${name} is the item's own`);
    out[name] = value(v);
  }
  return out;
}

function value(v: Json): AttributeValue {
  if (v === null) return { NULL: true };
  if (typeof v === "string") return { S: v };
  if (typeof v === "number") return { N: String(v) };
  if (typeof v === "boolean") return { BOOL: v };
  if (Array.isArray(v)) return { L: v.map(value) };
  return { M: Object.fromEntries(Object.entries(v).map(([name, e]) => [name, value(e)])) };
}

export function fromWire(wire: Wire): Item {
  const { PK, SK, version, expiresAt, ...rest } = wire;
  if (!PK?.S || !SK?.S) throw new Error("an item without a key");
  return {
    PK: PK.S,
    SK: SK.S,
    version: version === undefined ? 0 : whole("version", version, 1),
    expiresAt: expiresAt === undefined ? 0 : whole("expiresAt", expiresAt, 0),
    attributes: Object.fromEntries(Object.entries(rest).map(([name, v]) => [name, plain(v)])),
  };
}

function whole(name: string, v: AttributeValue, least: number): number {
  const n = Number(v.N ?? Number.NaN);
  if (!Number.isSafeInteger(n) || n < least)
    throw new Error(`${name}: must be a whole number, got ${JSON.stringify(v)}`);
  return n;
}

/** What remuda never writes becomes null: an operator's note in an item changes nothing. */
function plain(v: AttributeValue): Json {
  if (v.S !== undefined) return v.S;
  if (v.N !== undefined) return Number(v.N);
  if (v.BOOL !== undefined) return v.BOOL;
  if (v.L !== undefined) return v.L.map(plain);
  if (v.M !== undefined) return Object.fromEntries(Object.entries(v.M).map(([name, e]) => [name, plain(e)]));
  return null;
}

/** Whether both are the same, in whatever order their attributes are. */
export function same(a: Json, b: Json): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every(
      (name) => name in b && same((a as Record<string, Json>)[name] ?? null, (b as Record<string, Json>)[name] ?? null),
    )
  );
}

export function sameItem(a: Item, b: Item): boolean {
  return a.version === b.version && a.expiresAt === b.expiresAt && same(a.attributes, b.attributes);
}
