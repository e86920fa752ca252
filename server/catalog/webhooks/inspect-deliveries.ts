import type { MemberActor } from "@/server/base/actor";
import type { Prisma } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { toPlainData } from "@/server/base/db/plain-data";
import { AppError } from "@/server/base/errors";
import { decodeText, parseBodyText, rejectInvalidText } from "@/server/base/json/body";
import type { Services } from "@/server/catalog/services";
import type { DeliveryOutcomeName } from "@/server/contract/enums";
import { KIB } from "@/server/contract/sizes";
import { fillMessageTemplate } from "./message-template";
import { readSignatureCheck } from "./senders/signature-check";

export type DeliverySummary = Awaited<ReturnType<typeof listDeliveries>>["items"][number];
export type DeliveryDetail = Awaited<ReturnType<typeof inspectDelivery>>;

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

/**
 * The deliveries of a trigger without bodies, newest first. `status` is the response's HTTP status; `reason` is the
 * reported reason of a rejection or of an answered check of the address. Throws `not_found`.
 */
export async function listDeliveries(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  {
    triggerId,
    outcome,
    cursor,
    limit,
  }: PageRequest & { triggerId: string; outcome?: DeliveryOutcomeName | undefined },
) {
  const trigger = await db.trigger.findFirst({
    where: { id: triggerId, organizationId: actor.orgId, deletedAt: null },
    select: { id: true },
  });
  if (!trigger) throw new AppError("not_found", "Trigger not found.");
  const where: Prisma.DeliveryWhereInput = { organizationId: actor.orgId, triggerId };
  if (outcome) where.outcome = outcome;
  if (cursor) where.id = { lt: cursor };
  const rows = await db.delivery.findMany({
    where,
    orderBy: { id: "desc" },
    take: limit + 1,
    select: SUMMARY,
  });
  return pageOf(toPlainData(rows), limit, "id");
}

const PREVIEW_BYTES = 64 * KIB;
const HEX_BYTES = 4 * KIB;

export function bodyMissing(note: string): AppError {
  return new AppError("invalid_request", `This delivery's body was not stored: ${note}.`);
}

/**
 * One delivery; `complete` gives a text body uncut (up to 1 MiB). `bodyNote` is why the body was not stored.
 * `firstDeliveryId` is the delivery that this one repeats; null if it repeats none or the first is no longer
 * stored. Throws `not_found`.
 */
export async function inspectDelivery(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  { deliveryId, complete = false }: { deliveryId: string; complete?: boolean | undefined },
) {
  const { body, signatureCheck, ...delivery } = await requireDelivery(db, actor, deliveryId);
  const firstDeliveryId = delivery.outcome === "repeated" ? await findFirst(db, actor, delivery.runId) : null;
  return {
    ...toPlainData(delivery),
    firstDeliveryId,
    signatureCheck: signatureCheck === null ? null : readSignatureCheck(signatureCheck),
    body: await showBody(body, complete),
  };
}

async function findFirst(db: Services["db"], { orgId }: MemberActor, runId: string | null) {
  const where = { organizationId: orgId, runId, outcome: "accepted" } as const;
  const found = runId === null ? null : await db.delivery.findFirst({ where, select: { id: true } });
  return found?.id ?? null;
}

async function requireDelivery(db: Services["db"], { orgId }: MemberActor, id: string) {
  const found = await db.delivery.findFirst({
    where: { id, organizationId: orgId },
    select: {
      ...SUMMARY,
      triggerId: true,
      senderId: true,
      headers: true,
      body: true,
      bodyNote: true,
      signatureCheck: true,
    },
  });
  if (found) return found;
  throw new AppError("not_found", "Delivery not found. Its retention period may have ended.");
}

type DeliveryBody = {
  /** `hex` if the bytes are not UTF-8. */
  kind: "json" | "text" | "hex" | "empty";
  text: string;
  cut: boolean;
};

async function showBody(body: Uint8Array, complete: boolean): Promise<DeliveryBody> {
  if (body.length === 0) return { kind: "empty", text: "", cut: false };
  let text: string;
  try {
    text = decodeText(body);
  } catch {
    const start = hexLines(body.subarray(0, HEX_BYTES));
    return { kind: "hex", text: start, cut: body.length > HEX_BYTES };
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

function isJson(text: string): Promise<boolean> {
  return parseBodyText(text).then(
    () => true,
    () => false,
  );
}

/**
 * The user message that a template creates from a stored delivery. Throws `not_found`, `invalid_request` (the body
 * is not JSON, or the message is empty), `trigger_misconfigured` (the template fails).
 */
export async function previewMessage(
  { db, clock }: Pick<Services, "clock" | "db">,
  actor: MemberActor,
  { deliveryId, template }: { deliveryId: string; template: string },
): Promise<{ message: string }> {
  const { body, bodyNote } = await requireDelivery(db, actor, deliveryId);
  if (bodyNote !== null) throw bodyMissing(bodyNote);
  return previewTemplate({ clock }, actor, { template, body: decodeText(body), seed: deliveryId });
}

/** The message that a template creates from any body, for a trigger that has no delivery yet. */
export async function previewTemplate(
  { clock }: Pick<Services, "clock">,
  { orgId }: MemberActor,
  { template, body: text, seed = orgId }: { template: string; body: string; seed?: string },
): Promise<{ message: string }> {
  const body = await parseBodyText(text);
  await rejectInvalidText(body);
  const facts = { now: clock.now(), seed, organizationId: orgId };
  return { message: await fillMessageTemplate(template, body, facts) };
}
