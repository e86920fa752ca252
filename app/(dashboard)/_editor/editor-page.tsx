import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { isUuid } from "@/server/ids";
import { orNotFound } from "../content-page";
import { MembersOnly } from "./members-only";
import type { EditorProps } from "./use-editor";

type Props = {
  params: Promise<{ id?: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/**
 * The page of an editor, with what it needs fetched on the server. Unknown ids show the not-found page. `from` names a
 * starter in the address.
 */
export function editorPage(
  kind: "agent" | "tool",
  mode: EditorProps["mode"],
  render: (props: EditorProps, from: string | string[] | undefined) => ReactNode,
) {
  return async ({ params, searchParams }: Props) => {
    const { id = null } = await params;
    if (id !== null && !isUuid(id)) notFound();
    const prefetch = await createPrefetch();
    const { queryClient, trpc } = prefetch;
    const { editAgent, editTool, choices, functions } = trpc.definitions;
    if (id !== null && kind === "agent") {
      await orNotFound(queryClient.fetchQuery(editAgent.queryOptions({ agentId: id })));
    } else if (id !== null) {
      await orNotFound(queryClient.fetchQuery(editTool.queryOptions({ toolId: id })));
    }
    await queryClient.prefetchQuery(choices.queryOptions());
    if (kind === "tool") await queryClient.prefetchQuery(functions.queryOptions());
    const { from } = await searchParams;
    return (
      <Prefetched from={prefetch}>
        <MembersOnly kind={kind} title={`${mode === "edit" ? "Edit" : "New"} ${kind}`}>
          {render({ mode, id }, from)}
        </MembersOnly>
      </Prefetched>
    );
  };
}
