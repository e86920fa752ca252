"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { Command, Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { useDialog } from "@/app/_ui/use-dialog";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { USAGE_COLUMNS } from "../usage-columns";
import { referenceTo } from "./secret-draft";

const CreateSecret = lazy(() => import("./secret-dialogs"), "CreateSecret");
const ReplaceValue = lazy(() => import("./secret-dialogs"), "ReplaceValue");
const EditRules = lazy(() => import("./secret-dialogs"), "EditRules");
const RemoveSecret = lazy(() => import("./secret-dialogs"), "RemoveSecret");

const STATES = {
  set: <span>Set</span>,
  missing: <span className="text-waiting">No value yet</span>,
  expired: <span className="text-failed">Expired</span>,
};

const COLUMNS: LineColumn<SecretSummary>[] = [
  {
    head: "Secret",
    width: "w-[24%]",
    area: "line",
    cell: ({ name }) => (
      <span className="block truncate font-medium" title={referenceTo(name)}>
        {name}
      </span>
    ),
  },
  {
    head: "State",
    width: "w-32",
    area: "share",
    look: "line",
    cell: ({ state, waitingHosts }) =>
      state === "set" && waitingHosts.length > 0 ? (
        <span className="text-waiting">{formatPlural(waitingHosts.length, "host waits", "hosts wait")}</span>
      ) : (
        STATES[state]
      ),
  },
  {
    head: "Allowed hosts",
    area: "wide",
    look: "cut",
    cell: ({ hosts }) => <span title={hosts.join("\n")}>{hosts.join(", ")}</span>,
  },
  ...USAGE_COLUMNS,
];

function WaitingHosts({ secrets, onSet }: { secrets: readonly SecretSummary[]; onSet: WaitingAct }) {
  const waiting = secrets.filter(({ waitingHosts }) => waitingHosts.length > 0);
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Hosts that wait">
      {waiting.map((secret) => (
        <li
          className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-t bg-waiting-wash px-4 py-2 text-waiting sm:px-6"
          key={secret.name}
        >
          <span className="min-w-0 wrap-anywhere">
            {secret.name} is not sent to {secret.waitingHosts.join(", ")} yet. Set the value again to confirm{" "}
            {secret.waitingHosts.length === 1 ? "the host" : "the hosts"}.
          </span>
          {onSet ? <Button onClick={() => onSet(secret)}>Set the value of {secret.name}</Button> : null}
        </li>
      ))}
    </ul>
  );
}
type WaitingAct = false | ((secret: SecretSummary) => void);

export const SecretsSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={({ name }) => name} label="Secrets" lines={null} />
);

export function SecretsView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.secrets.list.queryOptions());
  const { dialog, open } = useDialog();
  const newSecret = { label: "New secret", needs: "admin", to: () => open(<CreateSecret />) } as const;
  const menuOf = (secret: SecretSummary) => (
    <MoreMenu label={`Actions for ${secret.name}`} quiet>
      <MenuItem onClick={() => open(<ReplaceValue secret={secret} />)}>
        {secret.state === "missing" ? "Set the value" : "Replace the value"}
      </MenuItem>
      <MenuItem onClick={() => open(<EditRules secret={secret} />)}>Edit hosts and expiry</MenuItem>
      <MenuSeparator />
      <MenuItem danger onClick={() => open(<RemoveSecret secret={secret} />)}>
        Remove
      </MenuItem>
    </MoreMenu>
  );
  return (
    <>
      <PageHead title="Secrets">
        <PageButton {...newSecret} otherwise="Admins and owners create and change secrets." />
      </PageHead>
      <WaitingHosts
        onSet={mayChange && ((secret) => open(<ReplaceValue secret={secret} />))}
        secrets={data}
      />
      <LineList
        columns={COLUMNS}
        empty={
          <Empty title="No secrets yet">
            <p>
              A secret is a value such as an API key of another service. Tools send it to the hosts you allow,
              and it cannot be read again: no page, no run and no model shows it. A step of a tool refers to
              it by name:
            </p>
            <Command>{`headers: { authorization: "Bearer ${referenceTo("github")}" }`}</Command>
            <PageButton {...newSecret} />
          </Empty>
        }
        keyOf={({ name }) => name}
        label="Secrets"
        lines={data}
        menu={mayChange && menuOf}
      />
      {dialog}
    </>
  );
}
