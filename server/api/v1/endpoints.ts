import type { Endpoint } from "@/server/api/endpoint";
import { router } from "@/server/api/trpc";
import { agents } from "./agents";
import { callbacks } from "./callbacks";
import { credits } from "./credits";
import { definitionFiles } from "./definition-file";
import { agentDefinitions, toolDefinitions, triggerDefinitions } from "./definitions";
import { deliveries } from "./deliveries";
import { fork } from "./fork";
import { metricsOfRuns } from "./metrics";
import { oneRun } from "./one-run";
import { runs } from "./runs";
import { schedules } from "./schedules";
import { tools } from "./tools";

const GROUPS = {
  tools,
  toolDefinitions,
  agents,
  agentDefinitions,
  runs: { ...runs, ...oneRun, ...fork },
  metrics: metricsOfRuns,
  triggers: triggerDefinitions,
  deliveries,
  schedules,
  callbacks,
  definitionFiles,
  credits,
};

/** As the documents and protocols of the API name it. */
export const API_VERSION = "1.0.0";

/** The tags of the document, in its order. */
export const TAGS = [
  { name: "Agents", description: "Agents and their runs" },
  { name: "Tools", description: "Tools and their runs" },
  { name: "Runs", description: "Runs of all agents and tools" },
  { name: "Triggers", description: "Triggers and the calls that they received" },
  { name: "Schedules", description: "Runs started by cron expressions" },
  { name: "Callbacks", description: "Signed requests about runs to your systems" },
  { name: "Definition files", description: "All definitions of the organization in one file" },
  { name: "Credits", description: "The organization's credits" },
  { name: "Webhooks", description: "Runs started by other systems" },
];

/** By the path of their procedure, such as `tools.run`. */
export const ENDPOINTS: Readonly<Record<string, Endpoint>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => [`${group}.${name}`, endpoint]),
  ),
);

export const v1Router = router(
  Object.fromEntries(Object.entries(ENDPOINTS).map(([path, { procedure }]) => [path, procedure])),
);
