/** The limits of one e-mail; lengths in characters. */
export const MAIL_LIMITS = { recipients: 50, subjectLength: 998, bodyLength: 512 * 1024 } as const;

export type MailMessage = {
  organizationId: string;
  to: readonly string[];
  subject: string;
  text: string;
  html?: string | undefined;
  /** Equal keys give equal Message-IDs, by which mail programs drop a repeated message. */
  idempotencyKey: string;
};

export type SentMail = { messageId: string; accepted: string[]; rejected: string[] };

/** Sends one message. Throws MailError and MailLimitError. */
export type SendMail = (message: MailMessage, signal: AbortSignal) => Promise<SentMail>;

export class MailLimitError extends Error {
  override name = "MailLimitError";
}

/** Thrown if a message was not sent. Its text may be shown to anyone. */
export class MailError extends Error {
  override name = "MailError";
}
