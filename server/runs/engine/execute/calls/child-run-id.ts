import { createHash } from "node:crypto";

/**
 * The id of a step's child run: a UUID v7 with its parent's time. The rest is a hash of parent and step. A worker that
 * takes the parent over finds the child by it, whatever was written of the step.
 */
export function childRunId(parentId: string, stepKey: string): string {
  const bytes = createHash("sha256").update(`${parentId}/${stepKey}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = parentId.slice(0, 13).replace("-", "") + bytes.toString("hex").slice(12);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
