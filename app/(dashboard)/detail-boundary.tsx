"use client";

import { type ReactNode, Suspense, useState } from "react";

/**
 * Shows `skeleton` until a detail page's content is there. Null: the page comes with its content, which React would
 * send after the rest if it were in a boundary. The first choice stays, because another tree would lose what was typed.
 */
export function DetailBoundary({ skeleton, children }: { skeleton: ReactNode; children: ReactNode }) {
  const [isStreamed] = useState(skeleton !== null);
  return isStreamed ? <Suspense fallback={skeleton}>{children}</Suspense> : children;
}
