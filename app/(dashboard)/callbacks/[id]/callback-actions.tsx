"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { lazy } from "@/app/_ui/lazy";
import { MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { useMay } from "@/app/_ui/role";
import { notify } from "@/app/_ui/toast";
import { useDialog } from "@/app/_ui/use-dialog";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";
import { describeAttempt } from "../attempt-mark";

const CallbackForm = lazy(() => import("../_form/callback-form"), "CallbackForm");
const RotateSecretDialog = lazy(() => import("./dialogs"), "RotateSecretDialog");
const DeleteCallbackDialog = lazy(() => import("./dialogs"), "DeleteCallbackDialog");

export function CallbackActions({ callback }: { callback: CallbackDetail }) {
  const trpc = useTRPC();
  const [mayTest, mayChange] = [useMay("member"), useMay("admin")];
  const { dialog, open } = useDialog();
  const meta = { refresh: [trpc.callbacks.pathKey()] };
  const test = useMutation(
    trpc.callbacks.sendTest.mutationOptions({
      meta,
      onSuccess: (result) => {
        if (result.error === null) notify("The test was delivered", describeAttempt(result));
        else notify("The test was not delivered", result.error);
      },
      onError: (error) => void notify("Could not send the test", describeError(error).message),
    }),
  );
  const setStatus = useMutation(
    trpc.callbacks.setStatus.mutationOptions({
      meta,
      onSuccess: (_, { status }) => {
        if (status === "active") notify(`${callback.name} is enabled`);
        else notify(`${callback.name} is disabled`, "Nothing is sent until you enable it.");
      },
      onError: (error) => void notify("Could not change the callback", describeError(error).message),
    }),
  );
  const hasAddress = callback.url !== null;
  const isEnabled = callback.disabledAt === null;
  return (
    <>
      {mayTest && hasAddress ? (
        <Button disabled={test.isPending} onClick={() => test.mutate({ callbackId: callback.id })}>
          {test.isPending ? "Sending" : "Send test"}
        </Button>
      ) : null}
      {mayChange && hasAddress ? (
        <Button onClick={() => open(<CallbackForm callback={callback} />)}>Edit</Button>
      ) : null}
      {mayChange ? (
        <MoreMenu label="More">
          {hasAddress ? (
            <MenuItem
              disabled={setStatus.isPending}
              onClick={() => setStatus.mutate({ id: callback.id, status: isEnabled ? "inactive" : "active" })}
            >
              {isEnabled ? "Disable" : "Enable"}
            </MenuItem>
          ) : null}
          <MenuItem onClick={() => open(<RotateSecretDialog callback={callback} />)}>
            Rotate the secret
          </MenuItem>
          {hasAddress ? (
            <>
              <MenuSeparator />
              <MenuItem danger onClick={() => open(<DeleteCallbackDialog callback={callback} />)}>
                Delete
              </MenuItem>
            </>
          ) : null}
        </MoreMenu>
      ) : null}
      {dialog}
    </>
  );
}
