import NextLink from "next/link";
import type { ComponentProps } from "react";

/**
 * A link within the dashboard. Never prefetches: each page is rendered for its reader, so every page would render
 * all linked ones.
 */
export function Link(props: Omit<ComponentProps<typeof NextLink>, "prefetch">) {
  return <NextLink {...props} prefetch={false} />;
}
