"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";

type Named = DefinitionRef & { name: string };

/** Makes every page read definitions anew. */
function useRefresh() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  return async () => {
    await queryClient.invalidateQueries({ queryKey: trpc.definitions.pathKey() });
    await queryClient.invalidateQueries({ queryKey: trpc.catalog.pathKey() });
    // Lists are rendered on the server.
    router.refresh();
  };
}

/** Restores an archived agent or tool. */
export function useRestore() {
  const client = useTRPCClient();
  const refresh = useRefresh();
  const notify = useNotify();
  return useMutation({
    mutationFn: ({ kind, id }: Named) => client.definitions.restore.mutate({ kind, id }),
    onSuccess: async (_, { name }) => {
      notify(`${name} is restored`);
      await refresh();
    },
    onError: (error, { name }) => notify(`${name} could not be restored`, describeError(error).message),
  });
}

/** Archives an agent or tool and leads to the list; the message offers to undo it. */
export function useArchive() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const router = useRouter();
  const notify = useNotify();
  const restore = useRestore();
  return useMutation({
    mutationFn: ({ kind, id }: Named) => client.definitions.archive.mutate({ kind, id }),
    onSuccess: async (_, definition) => {
      const { kind, name } = definition;
      router.push(`/${kind}s`);
      notify(`${name} is archived`, "It starts no runs until you restore it.", {
        label: "Undo",
        run: () => restore.mutate(definition),
      });
      await queryClient.invalidateQueries({ queryKey: trpc.catalog.pathKey() });
    },
    onError: (error, { name }) => notify(`${name} could not be archived`, describeError(error).message),
  });
}

/** Makes an earlier version the current one, as a new version; the message offers to undo it. */
export function useReturnTo(of: DefinitionRef) {
  const client = useTRPCClient();
  const refresh = useRefresh();
  const notify = useNotify();
  const mutation = useMutation({
    mutationFn: (versions: { number: number; current: number }) =>
      client.definitions.returnTo.mutate({ ...of, ...versions }),
    onSuccess: async ({ version, saved }, { number, current }) => {
      if (saved === "unchanged") notify(`Version ${number} equals the current version`);
      else {
        notify(`Version ${version} is current`, `It equals version ${number}.`, {
          label: "Undo",
          run: () => mutation.mutate({ number: current, current: version }),
        });
      }
      await refresh();
    },
    onError: (error, { number }) =>
      notify(`Could not return to version ${number}`, describeError(error).message),
  });
  return mutation;
}
