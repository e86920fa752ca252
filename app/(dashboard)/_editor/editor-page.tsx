import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { DetailHead, Empty } from "@/app/_ui/page/page";
import { requirePageMember } from "@/app/request";
import { type MemberRole, roleCovers } from "@/server/base/actor";
import { isUuid } from "@/server/base/ids";
import type { RunKind } from "@/server/contract/enums";
import { createPrefetch, orNotFound, Prefetched, plainPage } from "../content-page";
import { ROLE_LABELS } from "../members/roles";
import type { EditorProps } from "./use-editor";

type EditorPageProps = {
  params: Promise<{ id?: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/**
 * The page of an editor, with its data fetched on the server. Unknown ids show the not-found page. `from`: the name
 * of a starter.
 */
export function editorPage(
  kind: RunKind,
  mode: EditorProps["mode"],
  render: (props: EditorProps, from: string | string[] | undefined) => ReactNode,
) {
  const title = `${mode === "edit" ? "Edit" : "New"} ${kind}`;
  return plainPage(async ({ params, searchParams }: EditorPageProps) => {
    const { id = null } = await params;
    if (id !== null && !isUuid(id)) notFound();
    const { role } = (await requirePageMember()).actor;
    if (!roleCovers(role, "member")) return <MembersOnly kind={kind} role={role} title={title} />;
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
    return <Prefetched from={prefetch}>{render({ mode, id }, from)}</Prefetched>;
  });
}

function MembersOnly({ kind, role, title }: { kind: RunKind; role: MemberRole; title: string }) {
  const list = { href: `/${kind}s`, label: kind === "agent" ? "Agents" : "Tools" };
  return (
    <>
      <DetailHead back={list} className="border-line border-b" title={title} />
      <Empty title={`Only members and above create and edit ${kind}s`}>
        <p>Your role here is {ROLE_LABELS[role]}. An owner can change it.</p>
        <Link className={buttonClass("primary")} href={list.href}>
          Go to {kind}s
        </Link>
      </Empty>
    </>
  );
}
