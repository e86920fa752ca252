import { z } from "zod";
import { formatLimit } from "@/server/contract/sizes";
import { EgressError } from "@/server/guard/egress/failures";
import { MAIL_LIMITS, MailError } from "@/server/guard/mail/message";
import { defineFunction, FunctionError, failAs } from "@/server/work/functions/core/define";

const address = z.email().max(254);
const { recipients, subjectLength, bodyLength } = MAIL_LIMITS;

export const sendEmail = defineFunction({
  name: "send_email",
  title: "Send email",
  description: "Sends an email with a text and optionally an HTML body to one or more addresses.",
  input: z.object({
    to: z
      .union([address, z.array(address).min(1).max(recipients)])
      .describe(`One address, or a list of at most ${recipients}. All recipients see each other.`),
    subject: z
      .string()
      .min(1)
      .max(subjectLength)
      .regex(/^[^\r\n\0]*$/, "must be one line")
      .describe("One line."),
    text: z.string().max(bodyLength).describe("The body as plain text."),
    html: z.string().max(bodyLength).optional().describe("The body as HTML, for mail programs that show it."),
  }),
  output: z.object({
    messageId: z.string().describe("The Message-ID header; a repeated call sends the same one."),
    accepted: z.array(z.string()).describe("The addresses that the mail server accepted."),
    rejected: z.array(z.string()).describe("The addresses that it rejected."),
  }),
  errors: {
    not_configured: "The operator has not set SMTP_URL and SMTP_FROM.",
    rate_limited: "The organization has sent to as many recipients as it may in an hour.",
    mail_failed: "The mail server cannot be reached, may not be called or rejects the message.",
  },
  limits: [
    `${recipients} recipients`,
    "the recipients of an organization in an hour, which the operator limits",
    `${formatLimit(bodyLength)} for each body`,
  ],
  hasSideEffects: true,
  timeoutMs: 60_000,
  example: {
    input: { to: "ada@example.com", subject: "Stock", text: "Four lamps are left." },
    output: {
      messageId: "<3d7bd9a1c6ae9a1c3a50fa9e3ee7d5a54d3d1ac2@example.com>",
      accepted: ["ada@example.com"],
      rejected: [],
    },
  },
  async run({ to, subject, text, html }, { sendMail, signal, idempotencyKey, organizationId }) {
    if (sendMail === null) {
      const message = "Email is not configured here: the operator sets SMTP_URL and SMTP_FROM.";
      throw new FunctionError("not_configured", message);
    }
    const recipients = Array.isArray(to) ? to : [to];
    const message = { organizationId, to: recipients, subject, text, html, idempotencyKey };
    return sendMail(message, signal)
      .catch(failAs(MailError, ({ isLimit }) => (isLimit ? "rate_limited" : "mail_failed")))
      .catch(failAs(EgressError, "mail_failed"));
  },
});
