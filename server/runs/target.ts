import type { AgentConfiguration, ToolConfiguration } from "@/server/agent/definition";
import type { Decimal } from "@/server/credits/amount";

/** A startable agent or tool, with the configuration that a run of it freezes. */
export type Target = {
  id: string;
  name: string;
  version: number;
  maxCredits: Decimal | null;
  deadlineSeconds: number;
} & (
  | { kind: "agent"; active: boolean; configuration: Omit<AgentConfiguration, "messageFromOutside"> }
  | { kind: "tool"; configuration: ToolConfiguration }
);
