import { hostname } from "node:os";
import { z } from "zod";
import type { Services } from "@/server/runs/services";

/** The settings of a running process that `doctor` judges. They have no secrets. */
export const processSettings = z.object({
  host: z.string(),
  pid: z.int(),
  role: z.enum(["all", "web", "worker"]),
  appUrl: z.string(),
  trustProxy: z.boolean(),
  defaultModel: z.string(),
  /** The provider of the default model. */
  provider: z.string(),
  providerAddress: z.string().nullable(),
  egressAllow: z.array(z.string()),
  inngest: z.boolean(),
  unknownSettings: z.array(z.string()),
});
export type ProcessSettings = z.output<typeof processSettings>;

export function describeProcess({ env, models }: Pick<Services, "env" | "models">): ProcessSettings {
  const { role, appUrl, trustProxy, defaultModel, egressAllow, unknownSettings } = env;
  const address = env.openai?.baseUrl;
  return {
    host: hostname(),
    pid: process.pid,
    role,
    appUrl,
    trustProxy,
    defaultModel,
    provider: models.providerOf(defaultModel),
    providerAddress: address === undefined ? null : new URL(address).origin,
    egressAllow,
    inngest: env.inngest !== undefined,
    unknownSettings,
  };
}
