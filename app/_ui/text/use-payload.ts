"use client";

import { useState } from "react";
import type { PayloadPreview } from "@/server/runs/read/inspect/payload-preview";

/**
 * A text; at first only its start may be loaded. `load` fetches the rest from `address`; `read` returns the complete
 * text or throws an error with a sentence for the reader.
 */
export function usePayload(preview: PayloadPreview, address: string) {
  const [complete, setComplete] = useState<string | null>(null);
  const [state, setState] = useState<"idle" | "loading" | "failed">("idle");
  async function read(): Promise<string> {
    if (!preview.cut) return preview.text;
    if (complete !== null) return complete;
    setState("loading");
    try {
      const response = await fetch(address).catch((cause: unknown) => {
        throw new Error("The server could not be reached. Check the connection and try again.", { cause });
      });
      if (!response.ok) throw new Error(`The text could not be read (${response.status}).`);
      const text = await response.text();
      setComplete(text);
      setState("idle");
      return text;
    } catch (error) {
      setState("failed");
      throw error;
    }
  }
  return {
    text: complete ?? preview.text,
    cut: preview.cut && complete === null,
    loading: state === "loading",
    failed: state === "failed",
    load: () => void read().catch(() => {}),
    read,
  };
}
