import type { Services as BaseServices } from "@/server/base/services";
import type { GuardedFetch } from "./egress/guarded-fetch";
import type { ProcessMemory } from "./limits/process-memory";
import type { SendMail } from "./mail/message";
import type { Encryption } from "./secrets/encryption";

/** The services that guard against strangers. */
export type Services = BaseServices & {
  /** The guarded HTTP client for outgoing calls. */
  fetch: GuardedFetch;
  /** Sends the e-mails of functions; null: no SMTP server is configured. */
  sendMail: SendMail | null;
  encryption: Encryption;
  /** The memory that runs share. */
  memory: ProcessMemory;
};
