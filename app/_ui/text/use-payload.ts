"use client";

import { useMutation } from "@tanstack/react-query";
import { noteResponse } from "@/app/_ui/data/connection";
import { callServer } from "@/app/_ui/data/query-client";
import type { PayloadPreview } from "@/server/runs/read/inspect/payload-preview";

/**
 * A text of which only the start may be loaded. `load` fetches the rest; `read` returns the complete text or throws
 * an error with a sentence for the reader.
 */
export function usePayload(preview: PayloadPreview, address: string) {
  const fetched = useMutation({ mutationFn: () => fetchText(address) });
  const complete = preview.cut ? fetched.data : preview.text;
  return {
    text: complete ?? preview.text,
    cut: complete === undefined,
    loading: fetched.isPending,
    failed: fetched.isError,
    load: () => {
      if (complete === undefined) fetched.mutate();
    },
    read: async () => complete ?? fetched.mutateAsync(),
  };
}

async function fetchText(address: string): Promise<string> {
  const response = await callServer(address);
  noteResponse(response);
  if (!response.ok) throw new Error(`Could not load the text (${response.status}).`);
  return response.text();
}
