import type { ApiRequest } from "@/server/api/http/api-request";
import { AppError } from "@/server/base/errors";
import { decodeText, parseBodyText, requireJson } from "@/server/base/json/body";
import { isJsonObject, type JsonObject, memberOf } from "@/server/base/json/json";
import { MAX_BODY_BYTES } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { hashRequest } from "@/server/runs/idempotency";

/** A message of the protocol. The protocol's package keeps a message until its call ends: it gets no arguments. */
export type Message = {
  body: JsonObject;
  method: unknown;
  /** The JSON-RPC id; null for a notification. */
  id: string | number | null;
  /** The arguments of a call, with exact numbers. */
  input: JsonObject;
  /** SHA-256 of the text. */
  hash: Buffer;
};

/** The largest message, with the arguments of a call. */
export const MAX_MESSAGE_BYTES = MAX_BODY_BYTES;

/** Throws `invalid_request` and `payload_too_large`. */
export async function readMessage(request: ApiRequest, memory: StepMemory): Promise<Message> {
  const bytes = await request.readBody(MAX_MESSAGE_BYTES);
  requireJson(request.header("content-type"));
  const text = decodeText(bytes);
  await memory.holdText(text);
  const body = await parseBodyText(text);
  if (!isJsonObject(body)) {
    throw new AppError(
      "invalid_request",
      "The body must be one JSON-RPC message. Batches are not supported.",
    );
  }
  const { method, params } = body;
  const input = memberOf(params, "arguments");
  const message = { method, id: readId(body.id), hash: hashRequest(bytes) };
  if (!isJsonObject(params) || !isJsonObject(input)) return { ...message, body, input: {} };
  return { ...message, body: { ...body, params: { ...params, arguments: {} } }, input };
}

/** The id of a request, in a message or in what it says about another one. */
export function readId(id: unknown): string | number | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}
