"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { notify } from "@/app/_ui/toast";
import { useDialog } from "@/app/_ui/use-dialog";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";

const TriggerForm = lazy(() => import("../_form/trigger-form"), "TriggerForm");
const TestCallDialog = lazy(() => import("./dialogs"), "TestCallDialog");
const RotateSecretDialog = lazy(() => import("./dialogs"), "RotateSecretDialog");
const ReplaceAddressDialog = lazy(() => import("./dialogs"), "ReplaceAddressDialog");
const DeleteTriggerDialog = lazy(() => import("./dialogs"), "DeleteTriggerDialog");

/** The actions of members on a trigger. Viewers see nothing. */
export function TriggerActions({ trigger }: { trigger: TriggerDetail }) {
  const trpc = useTRPC();
  const mayChange = useMay("member");
  const { dialog, open } = useDialog();
  // Immediately: the same menu undoes it.
  const setStatus = useMutation(
    trpc.triggers.setStatus.mutationOptions({
      meta: { refresh: [trpc.triggers.inspect.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: (_, { status }) => {
        if (status === "active") notify(`${trigger.name} is enabled`);
        else notify(`${trigger.name} is disabled`, "Calls are rejected until you enable it.");
      },
      onError: (error) => notify("Could not change the trigger", describeError(error).message),
    }),
  );
  const edit = () => open(<TriggerForm trigger={trigger} />);
  const test = () => open(<TestCallDialog trigger={trigger} />);
  usePageActions(
    mayChange
      ? [
          { label: "Send a test call", run: test },
          { label: "Edit the trigger", run: edit },
        ]
      : [],
  );
  if (!mayChange) return null;
  return (
    <>
      <Button onClick={edit}>Edit</Button>
      <Button look="primary" onClick={test}>
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
        <MenuItem onClick={() => open(<RotateSecretDialog trigger={trigger} />)}>
          {trigger.secrets.length > 0 ? "Rotate the secret" : "Add a secret"}
        </MenuItem>
        <MenuItem onClick={() => open(<ReplaceAddressDialog trigger={trigger} />)}>
          Replace the address
        </MenuItem>
        <MenuSeparator />
        <MenuItem danger onClick={() => open(<DeleteTriggerDialog trigger={trigger} />)}>
          Delete
        </MenuItem>
      </MoreMenu>
      {dialog}
    </>
  );
}
