"use client";

import dynamic from "next/dynamic";
import { DetailHead, SkeletonLine } from "@/app/_ui/page/page";

const load = () => import("./tool-editor");
// Not only when the page is interactive. If it fails here, rendering tries again.
if (typeof window !== "undefined") load().catch(() => {});

const loading = () => (
  <div aria-busy="true">
    <DetailHead back={{ href: "/tools", label: "Tools" }} className="border-line border-b" title="Tool" />
    <div className="flex flex-col gap-6 px-4 py-6 sm:px-6">
      <SkeletonLine className="w-40" />
      <SkeletonLine className="w-2/3" />
      <SkeletonLine className="w-1/2" />
    </div>
  </div>
);

export const ToolEditor = dynamic(() => load().then((part) => part.ToolEditor), { ssr: false, loading });
