import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import type { ToolKnowledge } from "./tool-completions";

/** What completion knows: functions at once, secrets and schemas when they are read. */
export function useToolKnowledge(): ToolKnowledge {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { data: secrets = [] } = useQuery(trpc.secrets.list.queryOptions());
  const { data: schemas = null } = useQuery(trpc.definitions.toolSchemas.queryOptions());
  return { functions, secrets: secrets.map(({ name }) => name), schemas };
}
