/** The limits of one email; lengths in characters. */
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

/** Sends one message. Throws MailError. */
export type SendMail = (message: MailMessage, signal: AbortSignal) => Promise<SentMail>;

/** Thrown if a message was not sent. Its text may be shown to anyone. `isLimit`: the organization sent too much. */
export class MailError extends Error {
  override name = "MailError";
  readonly isLimit: boolean;

  constructor(message: string, { cause, isLimit = false }: { cause?: unknown; isLimit?: boolean } = {}) {
    super(message, { cause });
    this.isLimit = isLimit;
  }
}
