"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { ConfirmDialog } from "@/app/_ui/form-dialog";
import { formatPlural } from "@/app/_ui/format";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { SecretSummary } from "@/server/catalog/organization/secrets";

/** Confirms, with the tools that use the secret, then removes it. */
export function RemoveSecret({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const users = useQuery({ ...trpc.secrets.users.queryOptions({ name: secret.name }), staleTime: 0 });
  const remove = useMutation(
    trpc.secrets.remove.mutationOptions({
      meta: { refresh: [trpc.secrets.list.pathKey()] },
      onSuccess: () => {
        notify(`The secret ${secret.name} is removed`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Remove secret"
      acting="Removing"
      loading={users.isPending}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ name: secret.name })}
      title={`Remove ${secret.name}`}
    >
      <p>The value is deleted at once and cannot be restored.</p>
      {users.isPending ? (
        <SkeletonLine className="w-56" />
      ) : users.isError ? (
        <p className="text-failed">
          The tools that use it could not be read: {describeError(users.error).message}
        </p>
      ) : (
        <UsedBy tools={users.data} />
      )}
    </ConfirmDialog>
  );
}

const NAMED = 8;

function UsedBy({ tools }: { tools: { id: string; name: string }[] }) {
  if (tools.length === 0) return <p className="text-muted">No tool uses it.</p>;
  const more = tools.length - NAMED;
  return (
    <>
      <p className="rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
        {formatPlural(tools.length, "tool uses", "tools use")} it. Their steps that refer to it fail from then
        on.
      </p>
      <ul aria-label="Tools that use it" className="list-disc pl-5">
        {tools.slice(0, NAMED).map(({ id, name }) => (
          <li key={id}>
            <Link className="underline" href={`/tools/${id}`}>
              {name}
            </Link>
          </li>
        ))}
        {more > 0 ? <li>{more} more</li> : null}
      </ul>
    </>
  );
}
