import type { Endpoint } from "@/server/api/endpoint";
import { router } from "@/server/api/trpc";
import { agents } from "./agents";
import { runs } from "./runs";
import { tools } from "./tools";

const GROUPS = { tools, agents, runs };

/** The tags of the document, in its order. */
export const TAGS = [
  { name: "Agents", description: "Runs of agents" },
  { name: "Tools", description: "Runs of tools" },
  { name: "Runs", description: "Runs of all agents and tools" },
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
