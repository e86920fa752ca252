import { type ReactNode, Suspense } from "react";
import { arrivedByLink } from "@/app/request";

/**
 * A detail page. A direct visit awaits the content, so that an unknown id answers 404. A visit from within the
 * dashboard shows the skeleton first and streams the content.
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
