import type { Metadata } from "next";
import { isLong, isMarkedUp, PROMPT_LIMIT } from "@/app/_ui/text/long-text";
import { firstViewOf } from "@/app/_ui/text/markdown/first-view";
import { definitionItemPage } from "../../_definitions/detail/item-page";
import { AgentView } from "./agent-view";

export const metadata: Metadata = { title: "Agent" };

export default definitionItemPage("agent", async ({ queryClient, trpc }, agentId) => {
  const { systemPrompt } = await queryClient.fetchQuery(trpc.definitions.agent.queryOptions({ agentId }));
  const prompt = isMarkedUp(systemPrompt)
    ? firstViewOf(systemPrompt, isLong(systemPrompt, PROMPT_LIMIT))
    : null;
  return <AgentView agentId={agentId} prompt={prompt} />;
});
