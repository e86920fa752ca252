import { useQuery } from "@tanstack/react-query";
import { noteResponse } from "@/app/_ui/data/connection";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { Menu, MenuItem } from "@/app/_ui/menu/menu";
import { notify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import { PREVIEW_LENGTH } from "@/server/runs/read/enums";
import type { RunSummary } from "@/server/runs/read/list";
import { recentRunsQuery } from "../runs/query";

/** A menu of the inputs of the newest runs of an agent or tool, to use again. */
export function RecentInputs({ of, onPick }: { of: DefinitionRef; onPick: (input: string) => void }) {
  const trpc = useTRPC();
  const addressOf = useOrganizationAddress();
  const { data } = useQuery(recentRunsQuery(trpc, of));
  // Inputs that are longer than their preview may differ after it.
  const keyOf = (run: RunSummary) => (run.inputPreview.length < PREVIEW_LENGTH ? run.inputPreview : run.id);
  const runs = [...new Map(data?.items.toReversed().map((run) => [keyOf(run), run])).values()].toReversed();
  if (runs.length === 0) return null;
  async function pick(runId: string) {
    const response = await fetch(addressOf(`/api/runs/${runId}/text?field=input`)).catch(() => null);
    if (response) noteResponse(response);
    if (response?.ok) onPick(await response.text());
    else notify("Could not load the input", "Try again.");
  }
  return (
    <Menu
      label="Recent inputs"
      trigger="Recent"
      triggerClass="rounded px-1.5 py-0.5 text-accent hover:bg-hover"
    >
      {runs.map(({ id, inputPreview }) => (
        <MenuItem key={id} onClick={() => void pick(id)}>
          <span className="block max-w-80 truncate">{inputPreview}</span>
        </MenuItem>
      ))}
    </Menu>
  );
}
