import type { MemberActor } from "@/server/auth/actor";
import type { DeliveryOutcomeName } from "@/server/contract/enums";
import { AppError } from "@/server/errors";
import { decodeText, parseBodyText, refuseNul } from "@/server/json/body";
import { type Page, pageOf } from "@/server/page";
import type { Services } from "@/server/services";
import { fillMessageTemplate } from "./message-template";

export type DeliverySummary = {
  id: string;
  receivedAt: string;
  outcome: DeliveryOutcomeName;
  /** The HTTP status of the response. */
  status: number;
  code: string | null;
  /** Why it was rejected, as reported to the sender. */
  reason: string | null;
  bytes: number;
  runId: string | null;
  /** The delivery that this one redelivered. */
  redeliveryOf: string | null;
};

export type DeliveryPage = Page<DeliverySummary>;

const SUMMARY = {
  id: true,
  receivedAt: true,
  outcome: true,
  status: true,
  code: true,
  reason: true,
  bodyBytes: true,
  runId: true,
  redeliveryOf: true,
} as const;

type SummaryRow = Omit<DeliverySummary, "receivedAt" | "bytes"> & { receivedAt: Date; bodyBytes: number };

function toSummary({ receivedAt, bodyBytes, ...rest }: SummaryRow): DeliverySummary {
  return { ...rest, receivedAt: receivedAt.toISOString(), bytes: bodyBytes };
}

/** The deliveries of one trigger, newest first, by cursor, without bodies. Throws `not_found`. */
export async function listDeliveries(
  { db }: Services,
  actor: MemberActor,
  input: {
    triggerId: string;
    outcome?: DeliveryOutcomeName | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<DeliveryPage> {
  const trigger = await db.trigger.findFirst({
    where: { id: input.triggerId, organizationId: actor.orgId, deletedAt: null },
    select: { id: true },
  });
  if (!trigger) throw new AppError("not_found", "Trigger not found.");
  const rows = await db.delivery.findMany({
    where: {
      organizationId: actor.orgId,
      triggerId: trigger.id,
      ...(input.outcome ? { outcome: input.outcome } : {}),
      ...(input.before ? { id: { lt: input.before } } : {}),
    },
    orderBy: { id: "desc" },
    take: input.limit + 1,
    select: SUMMARY,
  });
  return pageOf(rows.map(toSummary), input.limit);
}

export type DeliveryBody = {
  /** `hex` if the bytes are not UTF-8. */
  kind: "json" | "text" | "hex" | "empty";
  text: string;
  /** Whether only the start is included. */
  cut: boolean;
};

export type DeliveryDetail = DeliverySummary & {
  triggerId: string;
  senderId: string | null;
  /** The stored headers as a JSON object; secret values are redacted. */
  headers: string;
  body: DeliveryBody;
  /** Why the body was not stored, to complete "The body was not kept: …"; null if it was. */
  bodyNote: string | null;
};

/** How much of a body is shown before the reader asks for all. */
const PREVIEW_BYTES = 64 * 1024;
/** How much of a binary body is shown. */
const HEX_BYTES = 4 * 1024;

/** The error for using a body that was not stored. */
export function bodyMissing(note: string): AppError {
  return new AppError("invalid_request", `This delivery's body was not kept: ${note}.`);
}

/** One delivery with its headers and body; `complete` gives a text body uncut (up to 1 MiB). Throws `not_found`. */
export async function inspectDelivery(
  { db }: Services,
  actor: MemberActor,
  { deliveryId, complete = false }: { deliveryId: string; complete?: boolean | undefined },
): Promise<DeliveryDetail> {
  const row = await db.delivery.findFirst({
    where: { id: deliveryId, organizationId: actor.orgId },
    select: { ...SUMMARY, triggerId: true, senderId: true, headers: true, body: true, bodyNote: true },
  });
  if (!row) throw new AppError("not_found", "Delivery not found. Its retention period may have ended.");
  const { triggerId, senderId, headers, body, bodyNote, ...summary } = row;
  return {
    ...toSummary(summary),
    triggerId,
    senderId,
    headers,
    body: await showBody(body, complete),
    bodyNote,
  };
}

/** A body in readable form. */
export async function showBody(body: Uint8Array, complete: boolean): Promise<DeliveryBody> {
  if (body.length === 0) return { kind: "empty", text: "", cut: false };
  let text: string;
  try {
    text = decodeText(body);
  } catch {
    return {
      kind: "hex",
      text: hexLines(body.subarray(0, HEX_BYTES)),
      cut: body.length > HEX_BYTES,
    };
  }
  const kind = (await isJson(text)) ? "json" : "text";
  if (complete || body.length <= PREVIEW_BYTES) return { kind, text, cut: false };
  // A character that the cut would split is omitted.
  const start = new TextDecoder().decode(body.subarray(0, PREVIEW_BYTES), { stream: true });
  return { kind, text: start, cut: true };
}

/** `00000010 7b 22 61 … {"a…`, sixteen bytes per line. */
function hexLines(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const shown = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${shown}`);
  }
  return lines.join("\n");
}

async function isJson(text: string): Promise<boolean> {
  try {
    await parseBodyText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The user message that a template creates from a stored delivery, without starting or saving anything. Throws
 * `not_found`, `invalid_request` (the body is not JSON, or the message is empty), `trigger_misconfigured` (the template
 * fails).
 */
export async function previewMessage(
  { db, clock }: Services,
  actor: MemberActor,
  { deliveryId, template }: { deliveryId: string; template: string },
): Promise<{ message: string }> {
  const row = await db.delivery.findFirst({
    where: { id: deliveryId, organizationId: actor.orgId },
    select: { body: true, bodyNote: true },
  });
  if (!row) throw new AppError("not_found", "Delivery not found. Its retention period may have ended.");
  if (row.bodyNote !== null) throw bodyMissing(row.bodyNote);
  const body = await parseBodyText(decodeText(row.body));
  await refuseNul(body);
  const facts = { now: clock.now(), seed: deliveryId, organizationId: actor.orgId };
  return { message: await fillMessageTemplate(template, body, facts) };
}

/** The message that a template creates from any body, for a trigger that has no delivery yet. */
export async function previewTemplate(
  { clock }: Services,
  actor: MemberActor,
  { template, body: text }: { template: string; body: string },
): Promise<{ message: string }> {
  const body = await parseBodyText(text);
  await refuseNul(body);
  const facts = { now: clock.now(), seed: actor.orgId, organizationId: actor.orgId };
  return { message: await fillMessageTemplate(template, body, facts) };
}
