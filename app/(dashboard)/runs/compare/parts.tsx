"use client";

import dynamic from "next/dynamic";
import { PageHead } from "@/app/_ui/page/page";
import { LinesSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Compare runs" />
      <LinesSkeleton />
    </>
  );
}

/** The page shows one of them, so only that one is loaded. */
export const Comparison = dynamic(() => import("./comparison").then((part) => part.Comparison), {
  loading: Skeleton,
});
export const RunPicker = dynamic(() => import("./run-picker").then((part) => part.RunPicker), {
  loading: Skeleton,
});
