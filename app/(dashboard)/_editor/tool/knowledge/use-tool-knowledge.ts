import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useContext } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { LastOutputsContext } from "./last-outputs";
import type { ToolKnowledge } from "./tool-completions";

/** Knowledge for completion: functions at once, secrets, schemas and the last outputs when they are read. */
export function useToolKnowledge(): ToolKnowledge {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { data: secrets = [] } = useQuery(trpc.secrets.list.queryOptions());
  const { data: schemas = null } = useQuery(trpc.definitions.toolSchemas.queryOptions());
  const { outputs } = useContext(LastOutputsContext);
  return { functions, secrets: secrets.map(({ name }) => name), schemas, outputs };
}
