import { dehydrate, HydrationBoundary, type QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { notFound } from "next/navigation";
import { type ComponentType, type ReactNode, Suspense } from "react";
import { buttonClass } from "@/app/_ui/button";
import { createQueryClient } from "@/app/_ui/data/query-client";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { arrivedByLink, pageContext } from "@/app/request";
import { dashboardRouter } from "@/server/api/dashboard/router";
import type { MemberActor } from "@/server/base/actor";
import { isAppError, isCallerError } from "@/server/base/errors";
import { isUuid } from "@/server/base/ids";
import { OfOrganization } from "./of-organization";

/** The member, a query client for one page, and the tRPC procedures as query options without HTTP. */
export async function createPrefetch() {
  const ctx = await pageContext();
  const queryClient = createQueryClient(isCallerError);
  const trpc = createTRPCOptionsProxy({ router: dashboardRouter, ctx, queryClient });
  return { queryClient, trpc, actor: ctx.actor };
}

type PrefetchedProps = { from: { queryClient: QueryClient; actor: MemberActor }; children: ReactNode };

/** Passes what was fetched on the server to the client components inside. */
export function Prefetched({ from, children }: PrefetchedProps) {
  return (
    <OfOrganization id={from.actor.orgId}>
      <HydrationBoundary state={dehydrate(from.queryClient)}>{children}</HydrationBoundary>
    </OfOrganization>
  );
}

type Prefetch = Awaited<ReturnType<typeof createPrefetch>>;
type SearchParams = Record<string, string | string[] | undefined>;

/** A page that shows a skeleton until its content is rendered. */
export function suspended<Props extends object>(
  Content: ComponentType<Props> | ((props: Props) => Promise<ReactNode>),
  skeleton: ReactNode,
) {
  return function Page(props: Props) {
    return (
      <Suspense fallback={skeleton}>
        <Content {...props} />
      </Suspense>
    );
  };
}

/** A suspended page that fetches the queries of its client components on the server. */
export function prefetchedPage<Props extends object>(
  content: (prefetch: Prefetch, props: Props) => Promise<ReactNode>,
  skeleton: ReactNode,
) {
  return suspended(async (props: Props) => {
    const prefetch = await createPrefetch();
    return <Prefetched from={prefetch}>{await content(prefetch, props)}</Prefetched>;
  }, skeleton);
}

/**
 * A detail page. A direct visit awaits the content, so that an unknown id answers 404. A visit from within the
 * dashboard streams it.
 */
export function detailPage<Props extends object>(
  content: (props: Props) => Promise<ReactNode>,
  skeleton: ReactNode,
) {
  const Streamed = suspended(content, skeleton);
  return async (props: Props) => ((await arrivedByLink()) ? <Streamed {...props} /> : content(props));
}

type ItemPageProps = { params: Promise<Record<string, string>>; searchParams: Promise<SearchParams> };

/**
 * The detail page of one item. An unknown id shows the not-found page. @param param the part of the path that is
 * the item's id
 */
export function itemPage(
  content: (prefetch: Prefetch, id: string, search: SearchParams) => Promise<ReactNode>,
  skeleton: ReactNode,
  param = "id",
) {
  return detailPage(async ({ params, searchParams }: ItemPageProps) => {
    const { [param]: id = "" } = await params;
    if (!isUuid(id)) notFound();
    const prefetch = await createPrefetch();
    const page = await orNotFound(content(prefetch, id, await searchParams));
    return <Prefetched from={prefetch}>{page}</Prefetched>;
  }, skeleton);
}

/** Waits for what a page is about. An unknown id shows the not-found page. */
export async function orNotFound<Value>(read: Promise<Value>): Promise<Value> {
  return read.catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined;
    if (isAppError(cause) && cause.code === "not_found") notFound();
    throw error;
  });
}

export function NotFound({ what, list, children }: { what: string; list: string; children: string }) {
  return (
    <Empty title={`${what} not found`}>
      <p>{children}</p>
      <Link className={buttonClass("plain")} href={`/${list}`}>
        Go to {list}
      </Link>
    </Empty>
  );
}
