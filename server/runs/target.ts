import { createHash } from "node:crypto";
import type { Decimal } from "@/server/base/amount";
import { writeJson } from "@/server/base/json/json";
import type { PriceList } from "@/server/base/models/price-list";
import { freezePrices } from "@/server/credits/prices";
import type { AgentConfiguration, RunConfiguration, ToolConfiguration } from "@/server/work/agent/definition";

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

/** A configuration with its prices as JSON, and the SHA-256 of that, hexadecimal. */
export function freezeConfiguration(configuration: RunConfiguration, prices: PriceList) {
  const document = writeJson({ ...configuration, prices: freezePrices(prices) });
  return { document, hash: createHash("sha256").update(document).digest("hex") };
}

export function targetColumns({
  id,
  version,
  configuration,
}: Pick<Target, "id" | "version" | "configuration">) {
  const { kind, name } = configuration;
  return {
    kind,
    agent: kind === "agent" ? id : null,
    tool: kind === "tool" ? id : null,
    name,
    version,
    model: kind === "agent" ? configuration.model : null,
  };
}
