import { createHash } from "node:crypto";
import { codeOf } from "@/server/base/errors";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import type { SmtpSettings } from "@/server/base/settings/env";
import type { GuardedConnect } from "@/server/guard/egress/guarded-connect";
import { createRedactor } from "@/server/guard/secrets/redact";
import { MailError, type MailMessage, type SendMail, type SentMail } from "./message";

const SOCKET_TIMEOUT_MS = 20_000;

// Mail servers reject clients that open many connections.
const CONNECTIONS = { process: 10, organization: 4 };

/**
 * Creates a function that sends emails. Each message has its own connection, so that it can be aborted. Organizations
 * take turns.
 */
export function createMailer(settings: SmtpSettings, connect: GuardedConnect): SendMail {
  const { host, port, secure, requireTls, user, password, from } = settings;
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? host;
  // Servers repeat commands that they reject, and AUTH holds the password.
  const { redact } = createRedactor(password === undefined ? [] : [{ value: password, mark: "[redacted]" }]);
  const queue = new FairQueue(CONNECTIONS.process, CONNECTIONS.organization);
  const sendMail: SendMail = async (message, signal) => {
    // Most installations send few emails.
    const { createTransport } = await import("nodemailer");
    const connection = await connect(host, port, signal);
    const transport = createTransport({
      host,
      port,
      secure,
      requireTLS: requireTls,
      connection,
      ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
      socketTimeout: SOCKET_TIMEOUT_MS,
      greetingTimeout: SOCKET_TIMEOUT_MS,
      // A message is made of what tenants write: it must not read files or addresses of this machine.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const stop = () => connection.destroy();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return readAnswer(await transport.sendMail(mailOptions(message, from, domain)));
    } catch (error) {
      signal.throwIfAborted();
      if (codeOf(error) === "ETLS" && requireTls) {
        const message =
          "The mail server does not offer TLS, and the password in SMTP_URL is not sent without it. " +
          "The operator sets an smtps:// address, or SMTP_REQUIRE_TLS=0.";
        throw new MailError(message, { cause: error });
      }
      const reason = redact(error instanceof Error ? error.message : String(error)).slice(0, 300);
      throw new MailError(`The mail server did not take the message: ${reason}`, { cause: error });
    } finally {
      signal.removeEventListener("abort", stop);
      transport.close();
      connection.destroy();
    }
  };
  return (message, signal) => queue.take(message.organizationId, () => sendMail(message, signal), signal);
}

function mailOptions({ to, subject, text, html, idempotencyKey }: MailMessage, from: string, domain: string) {
  const id = createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 40);
  return {
    from,
    // One header for all recipients, each as a bare address: a name cannot add another one.
    to: to.map((address) => ({ name: "", address })),
    subject,
    text,
    ...(html !== undefined && { html }),
    messageId: `<${id}@${domain}>`,
  };
}

function readAnswer(info: { messageId: string; accepted: unknown[]; rejected: unknown[] }): SentMail {
  const addresses = (list: unknown[]) => list.filter((entry) => typeof entry === "string");
  return {
    messageId: info.messageId,
    accepted: addresses(info.accepted),
    rejected: addresses(info.rejected),
  };
}
