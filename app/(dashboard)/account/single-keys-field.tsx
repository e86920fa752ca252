"use client";

import { useState } from "react";
import { chooseSingleKeys, useSingleKeys } from "@/app/_ui/page/page-keys";
import { Segments } from "@/app/_ui/segments";

const OPTIONS = [
  { value: "on", label: "On" },
  { value: "off", label: "Off" },
] as const;

/** Turns single-key shortcuts on or off; speech input can trigger them. */
export function SingleKeysField() {
  const stored = useSingleKeys() ? "on" : "off";
  const [picked, setPicked] = useState<typeof stored | null>(null);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Segments
        label="Single keys"
        onChange={(value) => {
          setPicked(value);
          chooseSingleKeys(value === "on");
        }}
        options={OPTIONS}
        value={picked ?? stored}
      />
      <span className="text-muted text-xs">
        Shortcuts such as <span className="mono">f</span> and <span className="mono">j</span>. Applies to this
        browser.
      </span>
    </div>
  );
}
