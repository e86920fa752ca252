"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { CloseIcon, DownloadIcon, MoreIcon } from "@/app/_ui/icons";
import { Menu, MenuItem, MenuLink } from "@/app/_ui/menu/menu";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import type { RunFilter } from "@/server/runs/read/filter";
import { writeFilter } from "../address";

const CancelAllDialog = dynamic(
  () => import("./cancel-all-dialog").then((module) => module.CancelAllDialog),
  {
    ssr: false,
  },
);

/** Actions for all runs that match the filter. */
export function ListMenu({ filter }: { filter: RunFilter }) {
  const [asking, setAsking] = useState(false);
  const mayCancel = useMay("member");
  const exportAddress = (format: string) => {
    const query = writeFilter(filter);
    return `/api/runs/export${query === "" ? "?" : `${query}&`}format=${format}`;
  };
  usePageActions([
    { label: "Export these runs as CSV", icon: <DownloadIcon />, href: exportAddress("csv"), download: true },
    {
      label: "Export these runs as JSON",
      icon: <DownloadIcon />,
      href: exportAddress("json"),
      download: true,
    },
    ...(mayCancel
      ? [{ label: "Cancel all open runs", icon: <CloseIcon />, run: () => setAsking(true) }]
      : []),
  ]);
  return (
    <>
      <Menu
        label="Export and more"
        trigger={<MoreIcon />}
        triggerClass="inline-flex size-8 items-center justify-center rounded-md border border-line-strong bg-raised hover:bg-hover"
      >
        <MenuLink download href={exportAddress("csv")}>
          <DownloadIcon className="text-muted" />
          Export as CSV
        </MenuLink>
        <MenuLink download href={exportAddress("json")}>
          <DownloadIcon className="text-muted" />
          Export as JSON
        </MenuLink>
        {mayCancel ? (
          <MenuItem danger onClick={() => setAsking(true)}>
            <CloseIcon />
            Cancel all open runs
          </MenuItem>
        ) : null}
      </Menu>
      {asking ? <CancelAllDialog filter={filter} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
