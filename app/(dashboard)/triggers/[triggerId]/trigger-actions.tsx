"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { useNotify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";

const DIALOGS = {
  edit: lazy(() => import("../_form/trigger-form"), "TriggerForm"),
  test: lazy(() => import("./dialogs"), "TestCallDialog"),
  secret: lazy(() => import("./dialogs"), "RotateSecretDialog"),
  address: lazy(() => import("./dialogs"), "ReplaceAddressDialog"),
  delete: lazy(() => import("./dialogs"), "DeleteTriggerDialog"),
};

/** What members can do with a trigger. Viewers see nothing. */
export function TriggerActions({ trigger }: { trigger: TriggerDetail }) {
  const mayChange = useMay("member");
  return mayChange ? <Actions trigger={trigger} /> : null;
}

function Actions({ trigger }: { trigger: TriggerDetail }) {
  const [opened, setOpened] = useState<keyof typeof DIALOGS | null>(null);
  const Opened = opened && DIALOGS[opened];
  const setStatus = useSetStatus(trigger);
  const isSigned = trigger.secrets.length > 0;
  usePageActions([
    { label: "Send a test call", run: () => setOpened("test") },
    { label: "Edit the trigger", run: () => setOpened("edit") },
  ]);
  return (
    <>
      <Button onClick={() => setOpened("edit")}>Edit</Button>
      <Button look="primary" onClick={() => setOpened("test")}>
        Send a test call
      </Button>
      <MoreMenu label="More">
        <MenuItem
          disabled={setStatus.isPending}
          onClick={() =>
            setStatus.mutate({ id: trigger.id, status: trigger.enabled ? "inactive" : "active" })
          }
        >
          {trigger.enabled ? "Disable" : "Enable"}
        </MenuItem>
        <MenuItem onClick={() => setOpened("secret")}>
          {isSigned ? "Rotate the secret" : "Add a secret"}
        </MenuItem>
        <MenuItem onClick={() => setOpened("address")}>Replace the address</MenuItem>
        <MenuSeparator />
        <MenuItem danger onClick={() => setOpened("delete")}>
          Delete
        </MenuItem>
      </MoreMenu>
      {Opened ? <Opened onClose={() => setOpened(null)} trigger={trigger} /> : null}
    </>
  );
}

/** Enables or disables the trigger immediately: the same menu undoes it. */
function useSetStatus(trigger: TriggerDetail) {
  const trpc = useTRPC();
  const notify = useNotify();
  return useMutation(
    trpc.triggers.setStatus.mutationOptions({
      meta: { refresh: [trpc.triggers.inspect.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: (_, { status }) => {
        if (status === "active") notify(`${trigger.name} is enabled`);
        else notify(`${trigger.name} is disabled`, "Calls are refused until you enable it.");
      },
      onError: (error) => notify("The trigger could not be changed", describeError(error).message),
    }),
  );
}
