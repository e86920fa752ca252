import { dehydrate, HydrationBoundary, type QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { notFound } from "next/navigation";
import { type ComponentType, type ReactNode, Suspense } from "react";
import { buttonClass } from "@/app/_ui/button";
import { createQueryClient } from "@/app/_ui/data/query-client";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { arrivedByLink, pageContext, requirePageMember } from "@/app/request";
import { dashboardRouter } from "@/server/api/dashboard/router";
import { isAppError, isCallerError } from "@/server/base/errors";
import { isUuid } from "@/server/base/ids";
import { pageOf } from "@/server/contract/page-organization";
import { DetailBoundary } from "./detail-boundary";
import { OfOrganization } from "./of-organization";

/** The member, a query client for one page, and the tRPC procedures as query options without HTTP. */
export async function createPrefetch() {
  const ctx = await pageContext();
  const queryClient = createQueryClient(isCallerError);
  const trpc = createTRPCOptionsProxy({ router: dashboardRouter, ctx, queryClient });
  return { queryClient, trpc, actor: ctx.actor };
}

type PrefetchedProps = { from: { queryClient: QueryClient }; children: ReactNode };

/** Passes what was fetched on the server to the client components inside. */
export function Prefetched({ from, children }: PrefetchedProps) {
  return <HydrationBoundary state={dehydrate(from.queryClient)}>{children}</HydrationBoundary>;
}

type Prefetch = Awaited<ReturnType<typeof createPrefetch>>;
type PageContent<Props> = (props: Props) => Promise<ReactNode>;
type SearchParams = Record<string, string | string[] | undefined>;

/** Children that throw are of the session's organization, too: they show its errors and not-found pages. */
async function OfSession({ children }: { children: ReactNode }) {
  const { actor } = await requirePageMember();
  return <OfOrganization page={pageOf(actor)}>{children}</OfOrganization>;
}

/** A page that shows a skeleton until its content is rendered. */
export function suspended<Props extends object>(
  Content: ComponentType<Props> | PageContent<Props>,
  skeleton: ReactNode,
) {
  return function Page(props: Props) {
    return (
      <Suspense fallback={skeleton}>
        <OfSession>
          <Content {...props} />
        </OfSession>
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
export function detailPage<Props extends object>(content: PageContent<Props>, skeleton: ReactNode) {
  const Content = content;
  return async (props: Props) => {
    const isStreamed = await arrivedByLink();
    const page = isStreamed ? <Content {...props} /> : await content(props);
    return (
      <DetailBoundary skeleton={isStreamed ? skeleton : null}>
        <OfSession>{page}</OfSession>
      </DetailBoundary>
    );
  };
}

/** A page without a skeleton: a visit from within the dashboard keeps the previous page until the content is rendered. */
export function plainPage<Props extends object>(content: PageContent<Props>) {
  const Content = content;
  return async (props: Props) => (
    <OfSession>{(await arrivedByLink()) ? <Content {...props} /> : await content(props)}</OfSession>
  );
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
