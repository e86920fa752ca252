import { type ReactNode, Suspense } from "react";
import { arrivedByLink } from "@/app/request";

/**
 * A page about one thing. Opened by its address it is awaited, so that what does not exist answers 404; reached from
 * within the dashboard its skeleton stands first and the content follows.
 */
export async function streamed(content: () => Promise<ReactNode>, skeleton: ReactNode): Promise<ReactNode> {
  if (!(await arrivedByLink())) return content();
  const Content = content;
  return (
    <Suspense fallback={skeleton}>
      <Content />
    </Suspense>
  );
}
