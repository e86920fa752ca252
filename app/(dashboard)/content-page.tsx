import { notFound } from "next/navigation";
import { type ComponentType, type ReactNode, Suspense } from "react";
import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { arrivedByLink, isNotFound } from "@/app/request";

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

/** A suspended page that reads queries for the client components in its content. */
export function prefetchedPage<Props extends object>(
  content: (prefetch: Awaited<ReturnType<typeof createPrefetch>>, props: Props) => Promise<ReactNode>,
  skeleton: ReactNode,
) {
  return suspended(async (props: Props) => {
    const prefetch = await createPrefetch();
    return <Prefetched from={prefetch}>{await content(prefetch, props)}</Prefetched>;
  }, skeleton);
}

/**
 * A detail page. A direct visit awaits the content, so that an unknown id answers 404. A visit from within the
 * dashboard shows the skeleton first and streams the content.
 */
export async function streamed(content: () => Promise<ReactNode>, skeleton: ReactNode): Promise<ReactNode> {
  return (await arrivedByLink()) ? suspended(content, skeleton)({}) : content();
}

/** What a page is about. An unknown id shows the not-found page. */
export async function orNotFound<Value>(read: Promise<Value>): Promise<Value> {
  return read.catch((error: unknown) => {
    if (isNotFound(error)) notFound();
    throw error;
  });
}

/** A not-found page: what may have happened, and the way to the list. */
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
