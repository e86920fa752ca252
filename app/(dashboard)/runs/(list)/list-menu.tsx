import { useState } from "react";
import { CloseIcon, DownloadIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { ActionMenu } from "@/app/_ui/page/action-menu";
import { useMay } from "@/app/_ui/role";
import type { RunFilter } from "@/server/runs/read/filter";
import { writeFilter } from "../address";

const CancelAllDialog = lazy(() => import("./cancel-all-dialog"), "CancelAllDialog");

/** Actions for all runs that match the filter. */
export function ListMenu({ filter }: { filter: RunFilter }) {
  const [asking, setAsking] = useState(false);
  const mayCancel = useMay("member");
  const exports = (["csv", "json"] as const).map((format) => {
    const query = writeFilter(filter);
    const name = format.toUpperCase();
    return {
      label: `Export these runs as ${name}`,
      short: `Export as ${name}`,
      icon: <DownloadIcon />,
      href: `/api/runs/export${query === "" ? "?" : `${query}&`}format=${format}`,
      download: true,
    };
  });
  const cancel = {
    label: "Cancel all open runs",
    icon: <CloseIcon />,
    danger: true,
    run: () => setAsking(true),
  };
  return (
    <>
      <ActionMenu actions={mayCancel ? [...exports, cancel] : exports} label="Export and more" />
      {asking ? <CancelAllDialog filter={filter} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
