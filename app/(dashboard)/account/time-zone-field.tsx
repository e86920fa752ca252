"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { chooseTimeZone, ownTimeZone, useChosenTimeZone, useNow, useTimeZone } from "@/app/_ui/data/clock";
import { useBrowserValue } from "@/app/_ui/data/store";
import { formatMoment } from "@/app/_ui/figures/format";
import { INPUT_CLASS } from "@/app/_ui/forms/form";

const OF_BROWSER = "browser";

/** The time zone of all times in this browser: the browser's own, or a chosen one. */
export function TimeZoneField() {
  const router = useRouter();
  const now = useNow();
  const timeZone = useTimeZone();
  const chosen = useChosenTimeZone();
  const [picked, setPicked] = useState(chosen ?? OF_BROWSER);
  // The server may know other zones than the browser, so only the browser lists them.
  const inBrowser = useBrowserValue(() => true, false);
  const zones = new Set([
    ...(chosen === null ? [] : [chosen]),
    ...(inBrowser ? ["UTC", ...Intl.supportedValuesOf("timeZone")] : []),
  ]);
  return (
    <div className="flex max-w-sm flex-col gap-1.5">
      <select
        aria-label="Time zone"
        className={INPUT_CLASS}
        onChange={({ target: { value } }) => {
          setPicked(value);
          chooseTimeZone(value === OF_BROWSER ? null : value);
          router.refresh();
        }}
        value={picked}
      >
        <option value={OF_BROWSER}>{inBrowser ? `The browser's: ${ownTimeZone()}` : "The browser's"}</option>
        {[...zones].sort().map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
      <p className="text-muted text-xs">
        It is now {formatMoment(new Date(now), timeZone, now)} in {timeZone}. Applies to this browser.
      </p>
    </div>
  );
}
