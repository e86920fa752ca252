import type { AgentConfiguration, ToolConfiguration } from "@/server/agent/definition";
import type { Decimal } from "@/server/credits/amount";

/** An agent or tool that can be started, with the configuration that its runs freeze. */
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
