"use client";

import { useNow } from "@/app/_ui/data/clock";
import { formatAge } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";

export function NextTime({ at }: { at: string }) {
  const left = new Date(at).getTime() - useNow();
  return (
    <>
      <Moment at={at} />
      <span className="text-muted">{left > 0 ? `, in ${formatAge(left)}` : ", now"}</span>
    </>
  );
}
