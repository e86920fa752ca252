import type { Services as BaseServices } from "@/server/base/services";
import type { GuardedFetch } from "./egress/guarded-fetch";
import type { ProcessMemory } from "./limits/process-memory";
import type { SendMail } from "./mail/message";
import type { Encryption } from "./secrets/encryption";

export type Services = BaseServices & {
  fetch: GuardedFetch;
  sendMail: SendMail | null;
  encryption: Encryption;
  memory: ProcessMemory;
};
