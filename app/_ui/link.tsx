import NextLink from "next/link";
import type { ComponentProps } from "react";

/**
 * A link within the dashboard. Nothing is fetched before it is followed. Each page is rendered for its reader, so
 * fetching ahead would render all linked pages with every page.
 */
export function Link(props: Omit<ComponentProps<typeof NextLink>, "prefetch">) {
  return <NextLink {...props} prefetch={false} />;
}
