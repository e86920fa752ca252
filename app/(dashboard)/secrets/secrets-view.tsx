"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Ago, Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { Command, Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { useMay } from "@/app/_ui/role";
import { List, ListCell, ListRow } from "@/app/_ui/table";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { referenceTo } from "./secret-draft";

const CreateSecret = lazy(() => import("./secret-dialogs"), "CreateSecret");
const ReplaceValue = lazy(() => import("./secret-dialogs"), "ReplaceValue");
const EditRules = lazy(() => import("./secret-dialogs"), "EditRules");
const RemoveSecret = lazy(() => import("./secret-dialogs"), "RemoveSecret");

const COLUMNS = [
  ["Secret", "w-[24%]"],
  ["State", "w-28"],
  ["Allowed hosts", "max-lg:hidden"],
  ["Last used", "w-30"],
  ["Expires", "w-28 max-lg:hidden"],
  ["Created", "w-[18%] max-lg:hidden"],
] as const;
const ACTIONS = ["", "w-14"] as const;

/** What an administrator does with one secret. */
type Act = "replace" | "edit" | "remove";

/** The organization's secrets without their values; administrators create, change and remove them here. */
export function SecretsView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.secrets.list.queryOptions());
  const [creating, setCreating] = useState(false);
  const [opened, setOpened] = useState<{ act: Act; secret: SecretSummary } | null>(null);
  const close = () => setOpened(null);
  const newSecret = { label: "New secret", needs: "admin", to: () => setCreating(true) } as const;
  return (
    <>
      <PageHead title="Secrets">
        <PageButton {...newSecret} otherwise="Admins and owners create and change secrets." />
      </PageHead>
      {data.length === 0 ? (
        <Empty title="No secrets yet">
          <p>
            A secret is a value such as an API key of another service. Tools send it to the hosts you allow,
            and nobody can read it again: no page, no run and no model shows it. A step of a tool refers to it
            by name:
          </p>
          <Command>{`headers: { authorization: "Bearer ${referenceTo("github")}" }`}</Command>
          <PageButton {...newSecret} />
        </Empty>
      ) : (
        <List columns={mayChange ? [...COLUMNS, ACTIONS] : COLUMNS} label="Secrets">
          {data.map((secret) => (
            <Row
              key={secret.name}
              onOpen={mayChange ? (act) => setOpened({ act, secret }) : null}
              secret={secret}
            />
          ))}
        </List>
      )}
      {creating ? <CreateSecret onClose={() => setCreating(false)} /> : null}
      {opened?.act === "replace" ? <ReplaceValue onClose={close} secret={opened.secret} /> : null}
      {opened?.act === "edit" ? <EditRules onClose={close} secret={opened.secret} /> : null}
      {opened?.act === "remove" ? <RemoveSecret onClose={close} secret={opened.secret} /> : null}
    </>
  );
}

const STATES: Record<SecretSummary["state"], { label: string; className?: string }> = {
  set: { label: "Set" },
  missing: { label: "No value yet", className: "text-waiting" },
  expired: { label: "Expired", className: "text-failed" },
};

function Row({ secret, onOpen }: { secret: SecretSummary; onOpen: ((act: Act) => void) | null }) {
  const state = STATES[secret.state];
  return (
    <ListRow>
      <ListCell area="line">
        <span className="block truncate font-medium" title={referenceTo(secret.name)}>
          {secret.name}
        </span>
      </ListCell>
      <ListCell className="whitespace-nowrap" area="share">
        <span className={state.className}>{state.label}</span>
      </ListCell>
      <ListCell className="truncate text-muted" area="wide">
        <span title={secret.hosts.join("\n")}>{secret.hosts.join(", ")}</span>
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="end">
        {secret.lastUsedAt ? (
          <>
            <span className="md:hidden">used </span>
            <Ago at={secret.lastUsedAt} />
          </>
        ) : (
          "Never used"
        )}
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="wide">
        {secret.expiresAt ? <Day at={secret.expiresAt} /> : "Never"}
      </ListCell>
      <ListCell className="truncate text-muted" area="wide">
        <Day at={secret.createdAt} /> by {secret.createdBy}
      </ListCell>
      {onOpen ? (
        <ListCell area="action">
          <MoreMenu label={`Actions for ${secret.name}`} quiet>
            <MenuItem onClick={() => onOpen("replace")}>
              {secret.state === "missing" ? "Set the value" : "Replace the value"}
            </MenuItem>
            <MenuItem onClick={() => onOpen("edit")}>Edit hosts and expiry</MenuItem>
            <MenuSeparator />
            <MenuItem danger onClick={() => onOpen("remove")}>
              Remove
            </MenuItem>
          </MoreMenu>
        </ListCell>
      ) : null}
    </ListRow>
  );
}
