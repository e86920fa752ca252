import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { IDEMPOTENCY_HOURS } from "@/server/contract/limits";
import { JSON_TYPE } from "@/server/contract/media-types";
import { type WebhookAccepted, webhookAccepted, webhookFiltered } from "@/server/contract/shapes";
import { formatLimit } from "@/server/contract/sizes";
import { WEBHOOK } from "@/server/contract/webhook";
import { idempotencyKey } from "../v1/start-headers";

/** Endpoint 7 is not a procedure, because signatures cover the raw bytes of a body. */

const signatureHeader = (description: string) => z.string().optional().meta({ description });

export const WEBHOOK_PATH: ZodOpenApiPathsObject = {
  [WEBHOOK.path]: {
    post: {
      operationId: "receiveWebhook",
      summary: "Start a run with a webhook trigger",
      description:
        "Starts one run of the trigger's agent or tool. An agent gets the body's text as its message, or the result of the " +
        "trigger's message template; a tool gets the body as its input, which must be an object that " +
        `matches its parameters. The body has at most ${formatLimit(WEBHOOK.maxBodyBytes)}. ` +
        "A trigger with a secret accepts signed calls only. " +
        "A trigger for a known sender, such as Stripe, takes that sender's headers and body types instead.",
      tags: ["Webhooks"],
      security: [],
      requestParams: {
        path: z.object({ token: z.string().meta({ description: "The trigger's token, a secret" }) }),
        header: z.object({
          "X-Signature": signatureHeader(
            "For triggers that expect hex signatures: the HMAC-SHA256 of the raw body in hexadecimal, with or " +
              "without sha256= before it.",
          ),
          "Idempotency-Key": idempotencyKey(
            `The sender's id of the event. Within ${IDEMPOTENCY_HOURS} hours the same id returns the first answer and starts ` +
              "nothing, whatever the body is. Ignored if the sender's own id is present, or signed in another header.",
          ),
          "webhook-id": idempotencyKey("Like Idempotency-Key; part of a Standard Webhooks signature."),
          "webhook-timestamp": signatureHeader(
            "For Standard Webhooks: the time of sending, in Unix seconds.",
          ),
          "webhook-signature": signatureHeader(
            "For Standard Webhooks: v1, and the base64 HMAC-SHA256 of id.timestamp.body.",
          ),
        }),
      },
      requestBody: {
        required: true,
        description: "Any JSON document in UTF-8.",
        content: {
          [JSON_TYPE]: { schema: z.unknown(), example: { event: "order.created", order: 42 } },
        },
      },
      responses: {
        "200": {
          description:
            "The run is stored and will execute. If the trigger has a filter that rejects the body, success is false and no run starts",
          content: {
            [JSON_TYPE]: {
              schema: z.union([webhookAccepted, webhookFiltered]),
              example: {
                success: true,
                runId: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
                type: "agent",
              } satisfies WebhookAccepted,
            },
          },
        },
      },
    },
  },
};
