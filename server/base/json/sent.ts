import { markExact } from "./exact-number";
import { writeJson } from "./json";

/** A value for code that calls JSON.stringify itself: a JSON text if it has numbers that a double cannot hold. */
export function toSent(value: unknown): unknown {
  if (value === undefined) return value;
  const text = writeJson(value);
  return markExact(text) === text ? value : text;
}
