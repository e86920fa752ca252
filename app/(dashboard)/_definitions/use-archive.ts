"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";

type Named = DefinitionRef & { name: string };

/** Restores an archived agent or tool. */
export function useRestore({ name }: Named) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  return useMutation(
    trpc.definitions.restore.mutationOptions({
      meta: { refresh: [trpc.definitions.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: () => {
        notify(`${name} is restored`);
        // Lists are rendered on the server.
        router.refresh();
      },
      onError: (error) => notify(`${name} could not be restored`, describeError(error).message),
    }),
  );
}

/** Archives an agent or tool and leads to the list; the message offers to undo it. */
export function useArchive(of: Named) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const restore = useRestore(of);
  return useMutation(
    trpc.definitions.archive.mutationOptions({
      meta: { refresh: [trpc.catalog.pathKey()] },
      onSuccess: () => {
        router.push(`/${of.kind}s`);
        notify(`${of.name} is archived`, "It starts no runs until you restore it.", {
          label: "Undo",
          run: () => restore.mutate(of),
        });
      },
      onError: (error) => notify(`${of.name} could not be archived`, describeError(error).message),
    }),
  );
}

/** Makes an earlier version the current one, as a new version; the message offers to undo it. */
export function useReturnTo() {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const mutation = useMutation(
    trpc.definitions.returnTo.mutationOptions({
      meta: { refresh: [trpc.definitions.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: ({ version, saved }, { number, current, ...of }) => {
        if (saved === "unchanged") notify(`Version ${number} equals the current version`);
        else {
          notify(`Version ${version} is current`, `It equals version ${number}.`, {
            label: "Undo",
            run: () => mutation.mutate({ ...of, number: current, current: version }),
          });
        }
        router.refresh();
      },
      onError: (error, { number }) =>
        notify(`Could not return to version ${number}`, describeError(error).message),
    }),
  );
  return mutation;
}
